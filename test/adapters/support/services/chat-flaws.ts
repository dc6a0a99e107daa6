import {
  type Fields,
  flawList,
  isJsonObject,
  isRecord,
  isText,
  isToolName,
  listOf,
  openCalls,
  unknownKeys,
} from './flaws.ts'

/** Fields of an assistant message that services other than OpenAI have added. */
const added = ['reasoning_content', 'reasoning', 'reasoning_details', 'extra_content']
const roles = new Set(['system', 'developer', 'user', 'assistant', 'tool'])
const userParts = new Set(['text', 'image_url', 'file', 'input_audio'])

/** Why Chat Completions would reject this request, by its reference. */
export function chatFlaws(body: Fields): string[] {
  const { flaws, check } = flawList()
  const calls = openCalls(check)
  check(isText(body.model), 'no model')
  check(listOf(body.messages).length > 0, 'no messages')
  checkTools(body.tools, check)
  for (const message of listOf(body.messages)) {
    const { role, content } = message
    check(roles.has(role as string), `the role ${role}`)
    if (role === 'tool') {
      calls.answer(message.tool_call_id)
      check(isContent(content, new Set(['text']), true), `a result with content ${JSON.stringify(content)}`)
      check(unknownKeys(message, ['role', 'content', 'tool_call_id']).length === 0, 'unknown fields in a result')
      continue
    }
    calls.none(`a message of the ${role}`)
    if (role !== 'assistant') {
      check(isContent(content, userParts, false), `a message of the ${role} with content ${JSON.stringify(content)}`)
      check(unknownKeys(message, ['role', 'content', 'name']).length === 0, `unknown fields of the ${role}`)
      continue
    }
    checkAssistant(message, check)
    for (const call of listOf(message.tool_calls)) calls.ask(call.id, call)
  }
  calls.none('the end')
  return flaws
}

type Check = (isFine: boolean, flaw: string) => void

function checkAssistant(message: Fields, check: Check): void {
  const { content, tool_calls } = message
  const hasCalls = listOf(tool_calls).length > 0
  check(tool_calls === undefined || hasCalls, 'tool_calls that are empty')
  const isFine = isContent(content, new Set(['text', 'refusal', 'thinking']), false)
  check(isFine || (hasCalls && (content === null || content === undefined || content === '')), 'an empty message')
  const unknown = unknownKeys(message, ['role', 'content', 'tool_calls', 'refusal', 'name', 'audio', ...added])
  check(unknown.length === 0, `unknown fields of the assistant: ${unknown}`)
  for (const field of ['reasoning_content', 'reasoning']) {
    check(message[field] === undefined || isText(message[field]), `${field} is no text`)
  }
  for (const call of listOf(tool_calls)) checkCall(call, check)
}

function checkCall(call: Fields, check: Check): void {
  const { type, function: fn, custom } = call
  const unknown = unknownKeys(call, ['id', 'type', 'function', 'custom', 'extra_content'])
  check(unknown.length === 0, `unknown fields of a call: ${unknown}`)
  if (type === 'custom') {
    check(isRecord(custom) && isToolName(custom.name), 'a custom call with a name that is refused')
    check(isRecord(custom) && typeof custom.input === 'string', 'a custom call without text')
    return
  }
  check(type === 'function' && isRecord(fn), `a call of type ${type}`)
  check(isRecord(fn) && isToolName(fn.name), `a call with the name ${isRecord(fn) ? fn.name : fn}`)
  check(isRecord(fn) && isJsonObject(fn.arguments), 'arguments that are no JSON object')
}

function isContent(content: unknown, kinds: ReadonlySet<string>, mayBeEmpty: boolean): boolean {
  if (typeof content === 'string') return mayBeEmpty || content !== ''
  const parts = listOf(content)
  return (
    parts.length > 0 &&
    parts.every((part) => kinds.has(part.type as string) && (part.type !== 'text' || isText(part.text)))
  )
}

function checkTools(tools: unknown, check: Check): void {
  check(tools === undefined || listOf(tools).length > 0, 'tools that are empty')
  const names = listOf(tools).flatMap((tool) => {
    const body = tool.type === 'custom' ? tool.custom : tool.function
    check(tool.type === 'custom' || tool.type === 'function', `a tool of type ${tool.type}`)
    check(isRecord(body) && isToolName(body.name), 'a tool with a name that is refused')
    return isRecord(body) ? [body.name] : []
  })
  check(new Set(names).size === names.length, 'two tools of one name')
}
