import { type Fields, flawList, isJsonObject, isRecord, isText, isToolName, listOf, openCalls } from './flaws.ts'

type Check = (isFine: boolean, flaw: string) => void

/** Items that the service created itself, with their required fields. */
const ownItems: Readonly<Record<string, readonly string[]>> = {
  web_search_call: ['id', 'status'],
  file_search_call: ['id', 'status'],
  code_interpreter_call: ['id', 'container_id'],
  image_generation_call: ['id', 'status'],
  mcp_call: ['id', 'name', 'server_label'],
  mcp_list_tools: ['id', 'server_label'],
  mcp_approval_request: ['id', 'name', 'arguments', 'server_label'],
  mcp_approval_response: ['approval_request_id'],
  program: ['id', 'call_id', 'code', 'fingerprint'],
  program_output: ['id', 'call_id', 'result', 'status'],
  compaction: ['encrypted_content'],
}
const callTypes = new Set(['function_call', 'custom_tool_call'])
const outputs: Readonly<Record<string, string>> = {
  function_call_output: 'function_call',
  custom_tool_call_output: 'custom_tool_call',
}

/** Why the Responses API would reject this request, by its reference. */
export function responsesFlaws(body: Fields): string[] {
  const { flaws, check } = flawList()
  const calls = openCalls(check)
  const items = listOf(body.input)
  check(isText(body.model), 'no model')
  check(items.length > 0, 'no input')
  checkTools(body.tools, check)
  const ids = items.flatMap(({ type, id }) => (id === undefined || type === 'item_reference' ? [] : [id]))
  check(new Set(ids).size === ids.length, `one id for two items: ${ids}`)
  for (const [at, item] of items.entries()) {
    const type = (item.type as string | undefined) ?? 'message'
    if (type === 'message') checkMessage(item, check)
    else if (type === 'reasoning') checkReasoning(item, items[at + 1], body.store === false, check)
    else if (callTypes.has(type)) {
      checkCall(item, items.slice(0, at), check)
      calls.ask(item.call_id, item)
    } else if (outputs[type] !== undefined) {
      // a reference may stand for the call, without naming it
      const isReferred = type === 'custom_tool_call_output' && items.slice(0, at).some(isReference)
      if (!isReferred) checkOutput(item, calls.answer(item.call_id), check)
    } else if (isReference(item)) check(body.store !== false && isText(item.id), 'a reference to what is not kept')
    else checkOwn(type, item, items, check)
  }
  calls.none('the end')
  return flaws
}

function checkMessage({ role, content, id, status }: Fields, check: Check): void {
  check(['user', 'assistant', 'system', 'developer'].includes(role as string), `the role ${role}`)
  const parts = listOf(content)
  const isFine = typeof content === 'string' ? content !== '' : parts.length > 0
  check(isFine, `an empty message of the ${role}`)
  for (const part of parts) {
    const kinds = role === 'assistant' ? ['output_text', 'refusal'] : ['input_text', 'input_image', 'input_file']
    check(kinds.includes(part.type as string), `a part ${part.type} of the ${role}`)
    if (part.type === 'input_text' || part.type === 'output_text') check(isText(part.text), 'an empty part')
  }
  // services other than OpenAI have ids of other forms
  if (id !== undefined) check(isText(id) && isText(status), 'a message with an id, and no status')
}

/** Reasoning must be followed by the item that it led to. */
function checkReasoning(item: Fields, next: Fields | undefined, isStateless: boolean, check: Check): void {
  check(isText(item.id), 'reasoning without an id')
  check(Array.isArray(item.summary), 'reasoning without a summary')
  check(!isStateless || isText(item.encrypted_content), 'reasoning that is not encrypted, where nothing is kept')
  const isHeard = next === undefined || next.role === 'user' || outputs[next.type as string] !== undefined
  check(!isHeard, 'reasoning without the item that it led to')
}

function checkCall(call: Fields, before: readonly Fields[], check: Check): void {
  check(isToolName(call.name), `a call with the name ${call.name}`)
  check(String(call.call_id).length <= 64, `the call id ${call.call_id}, which is too long`)
  if (call.type === 'custom_tool_call') check(typeof call.input === 'string', 'a custom call without text')
  else check(isJsonObject(call.arguments), 'arguments that are no JSON object')
  const { caller } = call
  if (!isRecord(caller) || caller.type !== 'program') return
  const isThere = before.some(
    (item) => isReference(item) || (item.type === 'program' && item.call_id === caller.caller_id),
  )
  check(isThere, `a call of the program ${caller.caller_id}, which is not there`)
}

function checkOutput(item: Fields, call: Fields | undefined, check: Check): void {
  const { output } = item
  check(typeof output === 'string' || listOf(output).length > 0, 'an output without content')
  if (call === undefined) return
  check(outputs[item.type as string] === call.type, `a ${item.type} for a ${call.type}`)
  const isSame = JSON.stringify(item.caller ?? null) === JSON.stringify(call.caller ?? null)
  check(isSame, 'an output whose caller is not that of its call')
}

function checkOwn(type: string, item: Fields, items: readonly Fields[], check: Check): void {
  const fields = ownItems[type]
  check(fields !== undefined, `an item of type ${type}`)
  for (const field of fields ?? []) check(item[field] !== undefined, `a ${type} without ${field}`)
  const answers = items.filter((each) => each.type === 'mcp_approval_response')
  if (type === 'mcp_approval_request') {
    check(
      answers.some((each) => each.approval_request_id === item.id),
      'a request for approval without an answer',
    )
  }
  if (type !== 'mcp_approval_response') return
  check(typeof item.approve === 'boolean', 'an answer that is neither yes nor no')
  const isAsked = items.some((each) => isRequest(each, item.approval_request_id))
  check(isAsked, 'an answer that nobody asked for')
}

const isReference = ({ type }: Fields): boolean => type === 'item_reference'

/** The request itself, or a reference to it. */
const isRequest = ({ type, id }: Fields, wanted: unknown): boolean =>
  id === wanted && (type === 'mcp_approval_request' || type === 'item_reference')

function checkTools(tools: unknown, check: Check): void {
  check(tools === undefined || listOf(tools).length > 0, 'tools that are empty')
  const own = listOf(tools).filter(({ type }) => type === 'function' || type === 'custom')
  for (const { name } of own) check(isToolName(name), `a tool with the name ${name}`)
  check(new Set(own.map(({ name }) => name)).size === own.length, 'two tools of one name')
}
