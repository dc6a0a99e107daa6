import { type Fields, flawList, isRecord, isText, isToolName, listOf, openCalls, unknownKeys } from './flaws.ts'

type Check = (isFine: boolean, flaw: string) => void

const assistantParts = ['text', 'file', 'reasoning', 'reasoning-file', 'custom', 'tool-call', 'tool-result']
const keys: Readonly<Record<string, readonly string[]>> = {
  text: ['text'],
  reasoning: ['text'],
  file: ['mediaType', 'data', 'filename'],
  'reasoning-file': ['mediaType', 'data'],
  custom: ['kind'],
  'tool-call': ['toolCallId', 'toolName', 'input', 'providerExecuted'],
  'tool-result': ['toolCallId', 'toolName', 'output'],
  'tool-approval-response': ['approvalId', 'approved', 'reason'],
}

/** The problems of the options of `doStream`, by the types of that version of the AI SDK's interface. */
export function promptFlaws(options: Fields, version: string): string[] {
  const { flaws, check } = flawList()
  const calls = openCalls(check)
  const names = listOf(options.tools).map(({ name }) => name)
  check(new Set(names).size === names.length, 'two tools of one name')
  check(options.tools === undefined || names.length > 0, 'tools that are empty')
  let isTalking = false
  for (const { role, content } of listOf(options.prompt)) {
    if (role === 'system') {
      check(isText(content) && !isTalking, 'a system message that is empty, or in the middle')
      continue
    }
    isTalking = true
    const parts = listOf(content)
    check(parts.length > 0, `an empty message of the ${role}`)
    if (role !== 'tool') calls.none(`a message of the ${role}`)
    for (const part of parts) {
      checkPart(part, String(role), version, check)
      if (role === 'assistant' && part.type === 'tool-call' && part.providerExecuted !== true) {
        calls.ask(part.toolCallId, part)
      }
      if (role === 'tool' && part.type === 'tool-result') {
        const call = calls.answer(part.toolCallId)
        check(call === undefined || call.toolName === part.toolName, 'a result under the name of another tool')
      }
    }
  }
  calls.none('the end')
  return flaws
}

function allowedParts(role: string, version: string): readonly string[] {
  if (role === 'assistant') return assistantParts
  if (role === 'user') return ['text', 'file']
  return version === 'v2' ? ['tool-result'] : ['tool-result', 'tool-approval-response']
}

function checkPart(part: Fields, role: string, version: string, check: Check): void {
  const type = String(part.type)
  check(allowedParts(role, version).includes(type), `a part ${type} of the ${role}`)
  const unknown = unknownKeys(part, ['type', 'providerOptions', ...(keys[type] ?? [])])
  check(unknown.length === 0, `unknown fields of a ${type}: ${unknown}`)
  const { providerOptions } = part
  check(
    providerOptions === undefined || isOptions(providerOptions),
    `provider options ${JSON.stringify(providerOptions)}`,
  )
  if (type === 'text') check(isText(part.text), 'an empty text')
  if (type === 'reasoning') check(typeof part.text === 'string', 'reasoning without text')
  if (type === 'file') check(isFileData(part.data, version) && isText(part.mediaType), 'a file in another form')
  if (type === 'tool-call' || type === 'tool-result') check(isText(part.toolCallId), `a ${type} without an id`)
  if (type === 'tool-call') {
    check(part.input !== undefined, 'a call without input')
    check(part.providerExecuted === true || isToolName(part.toolName), `a call with the name ${part.toolName}`)
  }
  if (type === 'tool-result') checkOutput(part.output, version, check)
  if (type === 'tool-approval-response') {
    check(isText(part.approvalId) && typeof part.approved === 'boolean', 'an answer to no request')
  }
}

const isOptions = (options: unknown): boolean =>
  isRecord(options) && Object.keys(options).length > 0 && Object.values(options).every(isRecord)

function isFileData(data: unknown, version: string): boolean {
  if (version !== 'v4') return isText(data) || data instanceof URL || data instanceof Uint8Array
  if (!isRecord(data)) return false
  return data.type === 'url' ? data.url instanceof URL : data.type === 'data' && data.data !== undefined
}

const outputKinds = new Set(['text', 'json', 'error-text', 'error-json', 'content', 'execution-denied'])
const contentKinds: Readonly<Record<string, readonly string[]>> = {
  v4: ['text', 'file', 'custom'],
  v3: ['text', 'image-data', 'image-url', 'file-data', 'file-url', 'custom'],
  v2: ['text', 'media'],
}

function checkOutput(output: unknown, version: string, check: Check): void {
  if (!isRecord(output)) return check(false, 'a result without output')
  check(outputKinds.has(String(output.type)), `an output of type ${output.type}`)
  if (output.type === 'text' || output.type === 'error-text') check(typeof output.value === 'string', 'no text')
  if (output.type !== 'content') return
  check(listOf(output.value).length > 0, 'an output without content')
  for (const { type } of listOf(output.value)) {
    check(contentKinds[version]?.includes(String(type)) === true, `a part ${type} in an output of ${version}`)
  }
}
