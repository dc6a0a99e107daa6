import { invalidOption } from '../base/invalid-option.ts'
import { oneOf } from '../base/option-rules.ts'
import { readField } from '../base/read-field.ts'
import { SignalboxError } from '../base/signalbox-error.ts'
import type { ToolBackground } from './background.ts'
import type { AnyTool, Retry } from './tool.ts'

/** The tools of one executor, found by name, then by alias. */
export class ToolBox {
  readonly #byName = new Map<string, AnyTool>()
  #byAlias: Map<string, AnyTool> | undefined

  constructor(tools: readonly AnyTool[]) {
    if (!Array.isArray(tools)) {
      invalidOption('tools', 'an array of tools', tools, 'invalid_tool')
    }
    for (const [index, tool] of tools.entries()) this.#add(tool, index)
  }

  find(name: string): AnyTool | undefined {
    return this.#byName.get(name) ?? this.#byAlias?.get(name)
  }

  #add(tool: AnyTool, index: number): void {
    assertTool(tool, index)
    if (this.#byName.has(tool.name)) {
      throw new SignalboxError('invalid_tool', `Two tools are named ${JSON.stringify(tool.name)}. Rename one of them.`)
    }
    this.#byName.set(tool.name, tool)
    // the first tool that claims an alias keeps it
    for (const alias of tool.aliases ?? []) {
      this.#byAlias ??= new Map()
      if (!this.#byAlias.has(alias)) this.#byAlias.set(alias, tool)
    }
  }
}

/** All names of a tool, its own first. */
export const namesOf = ({ name, aliases }: AnyTool): readonly string[] =>
  aliases === undefined ? [name] : [name, ...aliases]

/** All names that a rule may use for a tool. */
export const ruleNamesOf = (tool: AnyTool): readonly string[] =>
  tool.ruleNames === undefined ? namesOf(tool) : [...namesOf(tool), ...tool.ruleNames]

const isName = (value: unknown): value is string => typeof value === 'string' && value !== ''

function isTimeout(timeout: unknown): boolean {
  const isLimit = (ms: unknown): boolean => ms === undefined || (typeof ms === 'number' && ms >= 0)
  if (typeof timeout !== 'object' || timeout === null) return isLimit(timeout)
  const { totalMs, idleMs } = timeout as { totalMs?: unknown; idleMs?: unknown }
  return isLimit(totalMs) && isLimit(idleMs)
}

const functionFields = [
  'checkPermissions',
  'matchesRule',
  'exactRule',
  'checkRule',
  'editsWorkspace',
  'validateInput',
  'normalizeInput',
  'recover',
] as const

/** A call that waits for any other moment would never start. */
const [isMoment, moments] = oneOf('closed', 'nextBlock', 'turnEnded')

function isRetry(retry: unknown): boolean {
  if (typeof retry !== 'object' || retry === null) return false
  const { attempts, backoffMs = 0, when } = retry as Partial<Retry>
  return (
    Number.isInteger(attempts) &&
    (attempts as number) >= 1 &&
    (typeof backoffMs === 'function' || (typeof backoffMs === 'number' && backoffMs >= 0)) &&
    (when === undefined || typeof when === 'function')
  )
}

function isBackground(background: unknown): boolean {
  if (typeof background !== 'object' || background === null) return false
  const { afterMs, awaited, onEnd } = background as Record<keyof ToolBackground, unknown>
  return (
    (afterMs === undefined || (typeof afterMs === 'number' && afterMs >= 0)) &&
    (awaited === undefined || typeof awaited === 'boolean') &&
    (onEnd === undefined || onEnd === 'stop' || onEnd === 'leave')
  )
}

function assertTool(tool: AnyTool, index: number): void {
  const invalid = (field: string, expected: string, received: unknown): never => {
    const name = isName(tool?.name) ? ` (${tool.name})` : ''
    const where = field === '' ? '' : `: ${field}`
    invalidOption(`tools[${index}]${name}${where}`, expected, received, 'invalid_tool')
  }
  if (typeof tool !== 'object' || tool === null) invalid('', 'an object', tool)
  if (!isName(tool.name)) invalid('name', 'a non-empty string', tool.name)
  if (typeof tool.call !== 'function') invalid('call', 'a function', tool.call)
  if (typeof tool.inputSchema?._zod?.run !== 'function') invalid('inputSchema', 'a Zod object schema', tool.inputSchema)
  if (tool.inputJSONSchema !== undefined && readField(tool.inputJSONSchema, 'type') !== 'object') {
    invalid('inputJSONSchema', "a JSON Schema with type: 'object'", tool.inputJSONSchema)
  }
  if (tool.maxResultSizeChars !== undefined && !(tool.maxResultSizeChars > 0)) {
    invalid('maxResultSizeChars', 'a number above 0', tool.maxResultSizeChars)
  }
  for (const field of functionFields) {
    const received = readField(tool, field)
    if (received !== undefined && typeof received !== 'function') invalid(field, 'a function', received)
  }
  if (tool.retry !== undefined && !isRetry(tool.retry)) {
    invalid('retry', '{ attempts, backoffMs?, when? } with at least one attempt', tool.retry)
  }
  if (tool.background !== undefined && !isBackground(tool.background)) {
    invalid('background', "{ afterMs?, awaited?, onEnd? } with onEnd 'stop' or 'leave'", tool.background)
  }
  const { startWhen } = tool
  if (startWhen !== undefined && !isMoment(startWhen)) invalid('startWhen', moments, startWhen)
  if (!isTimeout(tool.timeout)) invalid('timeout', 'milliseconds, or { totalMs, idleMs }', tool.timeout)
  if (tool.aliases !== undefined && !(Array.isArray(tool.aliases) && tool.aliases.every(isName))) {
    invalid('aliases', 'an array of names', tool.aliases)
  }
  if (tool.ruleNames !== undefined && !(Array.isArray(tool.ruleNames) && tool.ruleNames.every(isName))) {
    invalid('ruleNames', 'an array of names', tool.ruleNames)
  }
}
