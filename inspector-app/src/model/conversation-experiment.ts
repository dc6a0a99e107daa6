import type { ConversationOptions, ConversationWhatIf, MarkedCall } from '../../../src/inspect/index.ts'
import { ConversationWork } from '../../../src/inspect/runs/what-if-conversation.ts'
import type { History } from './history.ts'
import { Simulation } from './simulation.ts'

/** Changes for all calls of a tool. Absent parts are as recorded. */
export interface ToolChange {
  isSafe?: boolean | undefined
  /** The call uses the resource that this field of its input names. */
  resource?: { readonly use: 'reads' | 'writes'; readonly field: string } | undefined
  backgroundAfterMs?: number | undefined
}

/** A tool of the recording, and the fields of its inputs that could name a resource. */
export interface SeenTool {
  readonly name: string
  readonly calls: number
  readonly isSafe: boolean
  readonly isMixed: boolean
  readonly fields: readonly string[]
}

/** The limits that can be set, in the order shown. */
export const limitFields = [
  ['turns', 'turns'],
  ['calls', 'calls'],
  ['inputTokens', 'input tokens'],
  ['outputTokens', 'output tokens'],
  ['costUsd', 'cost in US dollars'],
  ['durationMs', 'milliseconds'],
] as const

export type SetLimit = (typeof limitFields)[number][0]

/** Simulates all turns of a conversation with changes of the limit and of tools. */
export class ConversationExperiment extends Simulation<ConversationWhatIf> {
  readonly changes = new Map<string, ToolChange>()
  /** Limits on the whole conversation. */
  readonly limits = new Map<SetLimit, number>()
  protected readonly subject = 'This conversation'

  get isChanged(): boolean {
    if (this.limit !== undefined || this.limits.size > 0) return true
    return [...this.changes.values()].some((change) => Object.keys(change).length > 0)
  }

  /** The tools of the recorded calls, those with the most calls first. */
  get tools(): SeenTool[] {
    const tools = new Map<string, { calls: number; isSafe: boolean; isMixed: boolean; fields: Set<string> }>()
    for (const { calls } of this.seen.runs.byNumber.values()) {
      for (const { name, isSafe, input, ending } of calls) {
        // a call that was answered without running has no lane
        if (ending?.by === 'answer') continue
        const tool = tools.get(name) ?? { calls: 0, isSafe, isMixed: false, fields: new Set<string>() }
        tools.set(name, tool)
        tool.calls++
        tool.isMixed ||= tool.isSafe !== isSafe
        for (const field of fieldsOf(input)) tool.fields.add(field)
      }
    }
    const found = [...tools].map(([name, { fields, ...tool }]) => ({ name, ...tool, fields: [...fields] }))
    return found.sort((a, b) => b.calls - a.calls)
  }

  /** A cost can be limited if the recording has the cost of every reply. */
  get isPriced(): boolean {
    const replies = [...this.seen.runs.byNumber.values()].flatMap((run) => run.replies)
    return replies.length > 0 && replies.every(({ costUsd }) => costUsd !== undefined)
  }

  setLimit(name: SetLimit, max: number | undefined): void {
    if (max === undefined) this.limits.delete(name)
    else this.limits.set(name, max)
  }

  /** An absent part is as recorded. */
  change(tool: string, change: ToolChange): void {
    const known = Object.entries({ ...this.changes.get(tool), ...change }).filter(([, value]) => value !== undefined)
    this.changes.set(tool, Object.fromEntries(known))
  }

  undo(): void {
    this.limit = undefined
    this.limits.clear()
    this.changes.clear()
  }

  protected begin(): ConversationWork {
    return new ConversationWork(this.seen.runs, this.#options())
  }

  #options(): ConversationOptions {
    const of = ({ name }: MarkedCall): ToolChange => this.changes.get(name) ?? {}
    return {
      maxConcurrency: this.limit,
      limits: Object.fromEntries(this.limits),
      safe: (call) => of(call).isSafe,
      resources: (call) => {
        const { resource } = of(call)
        const value = resource && textOf(call.input, resource.field)
        return value === undefined ? undefined : { [resource?.use ?? 'writes']: [`${keyOf(resource?.field)}:${value}`] }
      },
      backgroundAfterMs: (call) => of(call).backgroundAfterMs,
    }
  }
}

/** The scheme of a key has letters, digits, `+`, `.` and `-`. */
const keyOf = (field = ''): string => `f-${field.toLowerCase().replace(/[^a-z0-9]/g, '-')}`

const mostFields = 8

function fieldsOf(input: MarkedCall['input']): string[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) return []
  return Object.keys(input)
    .filter((field) => textOf(input, field) !== undefined)
    .slice(0, mostFields)
}

/** A short text in this field of an input. */
function textOf(input: MarkedCall['input'], field: string): string | undefined {
  if (typeof input !== 'object' || input === null || !Object.hasOwn(input, field)) return undefined
  const value = (input as { readonly [key: string]: unknown })[field]
  return field !== '$' && typeof value === 'string' && value !== '' && value.length <= 1_000 ? value : undefined
}

const known = new WeakMap<History, ConversationExperiment>()

export function conversationExperimentOf(history: History): ConversationExperiment {
  const found = known.get(history) ?? new ConversationExperiment(history)
  known.set(history, found)
  return found
}
