import type { ApiMessage, ContentBlock } from '../../src/index.ts'

/**
 * Why the Messages API would reject these messages, if it would: its rules written down a second time, plainly and
 * slowly, to hold the real check against.
 */
export function rejection(messages: readonly ApiMessage[]): string | undefined {
  for (const [index, message] of messages.entries()) {
    const problem = messageProblem(message)
    if (problem !== undefined) return `messages.${index}: ${problem}`
  }
  if (messages.length > 0 && messages[0]?.role !== 'user') return 'the first message is not from the user'
  const turns = combined(messages)
  return pairingProblem(turns) ?? serverToolProblem(turns)
}

/** System messages in mid-conversation: which models accept them is not checked. */
const isSystem = ({ role }: ApiMessage): boolean => (role as string) === 'system'

function blocksOf(message: ApiMessage): ContentBlock[] {
  if (isSystem(message)) return [{ type: 'system' } as never]
  return typeof message.content === 'string' ? [{ type: 'text', text: message.content }] : message.content
}

function messageProblem(message: ApiMessage): string | undefined {
  const blocks = blocksOf(message)
  if (blocks.length === 0 || (message.content === '' && !isSystem(message))) return 'empty content'
  if (blocks.some((block) => block.type === 'text' && block.text === '')) return 'empty text block'
  if (blocks.every((block) => block.type === 'text' && String(block.text).trim() === '')) return 'only white space'
  for (const block of blocks) {
    if (block.type === 'tool_use') {
      if (message.role !== 'assistant') return 'tool_use in a user message'
      if (!/^[a-zA-Z0-9_-]+$/.test(String(block.id))) return 'bad tool_use id'
      if (!/^[a-zA-Z0-9_-]{1,128}$/.test(String(block.name))) return 'bad tool_use name'
      if (typeof block.input !== 'object' || block.input === null || Array.isArray(block.input)) return 'bad input'
    }
    if (block.type === 'tool_result') {
      if (message.role !== 'user') return 'tool_result in an assistant message'
      const isEmpty = block.content === undefined || (block.content as string).length === 0
      if (block.is_error === true && isEmpty) return 'empty error result'
    }
  }
  return undefined
}

/** Consecutive messages of one role are merged. */
function combined(messages: readonly ApiMessage[]): { role: string; blocks: ContentBlock[] }[] {
  const turns: { role: string; blocks: ContentBlock[] }[] = []
  for (const message of messages) {
    const role = isSystem(message) ? 'user' : message.role
    const last = turns.at(-1)
    if (last?.role === role) last.blocks.push(...blocksOf(message))
    else turns.push({ role, blocks: [...blocksOf(message)] })
  }
  return turns
}

function pairingProblem(turns: { role: string; blocks: ContentBlock[] }[]): string | undefined {
  const ids: unknown[] = []
  for (const [index, { role, blocks }] of turns.entries()) {
    const calls = callsOf(blocks)
    if (calls.some((id, at) => ids.includes(id) || calls.indexOf(id) !== at)) return 'tool_use ids are not unique'
    ids.push(...calls)
    if (role === 'assistant') {
      const results = resultsOf(turns[index + 1]?.blocks ?? [])
      if (calls.some((id) => !results.includes(id))) return 'tool_use without a tool_result right after'
    } else {
      const results = resultsOf(blocks)
      const asked = callsOf(turns[index - 1]?.blocks ?? [])
      if (results.some((id) => !asked.includes(id))) return 'tool_result without a tool_use right before'
      if (new Set(results).size !== results.length) return 'more than one tool_result'
      if (blocks.slice(0, results.length).some(({ type }) => type !== 'tool_result')) return 'results are not first'
    }
  }
  return undefined
}

/** A server call is answered in the same turn, or later if only results are between, or it is at the end. */
function serverToolProblem(turns: { role: string; blocks: ContentBlock[] }[]): string | undefined {
  let open: unknown[] = []
  for (const { role, blocks } of turns) {
    if (role !== 'assistant') {
      if (open.length > 0 && resultsOf(blocks).length < blocks.length) return 'text while a server tool runs'
      continue
    }
    for (const { type, id, tool_use_id } of blocks) {
      if (type === 'server_tool_use' || type === 'mcp_tool_use') {
        if (open.includes(id)) return 'a server call twice'
        open.push(id)
      } else if (type.endsWith('_tool_result')) {
        if (!open.includes(tool_use_id)) return 'a server result without its call'
        open = open.filter((each) => each !== tool_use_id)
      }
    }
  }
  return undefined
}

const callsOf = (blocks: readonly ContentBlock[]): unknown[] =>
  blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id)

const resultsOf = (blocks: readonly ContentBlock[]): unknown[] =>
  blocks.filter(({ type }) => type === 'tool_result').map(({ tool_use_id }) => tool_use_id)
