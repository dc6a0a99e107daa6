/**
 * Why the Messages API would refuse a request, rule by rule, written from the service's documentation and the comments
 * on the types of its client. It knows nothing of `src/`.
 */
export function anthropicRequestFlaws(params: unknown): string[] {
  const { messages, tools, max_tokens, model, fallbacks, betas, container } = Object(params) as Record<string, unknown>
  const flaws: string[] = []
  const takesFallbacks = fallbacks != null || /server-side-fallback/.test(String(betas))
  if (!takesFallbacks && hasBlock(messages, 'fallback'))
    flaws.push('a fallback block, and neither fallbacks nor their beta')
  if (container == null && isCodeWaiting(messages)) flaws.push('container: required while code waits for its calls')
  if (typeof model !== 'string' || model === '') flaws.push('model: missing')
  if (!Number.isInteger(max_tokens) || (max_tokens as number) < 1) flaws.push('max_tokens: not a positive integer')
  return [...flaws, ...toolFlaws(tools), ...messageFlaws(messages)]
}

const idPattern = /^[a-zA-Z0-9_-]+$/
const namePattern = /^[a-zA-Z0-9_-]{1,128}$/

type Block = Record<string, unknown> & { type: string }

const blocksIn = (messages: unknown): Block[] =>
  ((messages ?? []) as { content: unknown }[]).flatMap(({ content }) => (Array.isArray(content) ? content : []))

const hasBlock = (messages: unknown, type: string): boolean => blocksIn(messages).some((block) => block.type === type)

/** The last calls were made by code of the service that has no result yet. */
function isCodeWaiting(messages: unknown): boolean {
  const blocks = blocksIn(messages)
  const last = blocks.findLast(({ type }) => type === 'tool_use')
  const by = Object(last?.caller).tool_id
  return by !== undefined && !blocks.some((block) => isServerResult(block) && block.tool_use_id === by)
}

interface Turn {
  readonly at: number
  readonly role: string
  readonly blocks: Block[]
}

function toolFlaws(tools: unknown): string[] {
  const flaws: string[] = []
  const names = new Set<unknown>()
  for (const [at, tool] of ((tools ?? []) as Block[]).entries()) {
    if (!namePattern.test(String(tool.name))) flaws.push(`tools.${at}.name: does not match the pattern`)
    if (names.has(tool.name)) flaws.push(`tools: the name ${tool.name} is there twice`)
    names.add(tool.name)
    const isCustom = tool.type === undefined || tool.type === 'custom'
    if (isCustom && Object(tool.input_schema).type !== 'object') flaws.push(`tools.${at}.input_schema: not an object`)
  }
  return flaws
}

/** All problems of the messages of a request. */
export function messageFlaws(messages: unknown): string[] {
  if (!Array.isArray(messages) || messages.length === 0) return ['messages: at least one is required']
  const turns: Turn[] = []
  const flaws: string[] = []
  for (const [at, message] of messages.entries()) {
    const { role, content } = Object(message) as Record<string, unknown>
    if (role !== 'user' && role !== 'assistant') flaws.push(`messages.${at}.role: ${String(role)}`)
    if (content === '' || (Array.isArray(content) && content.length === 0)) flaws.push(`messages.${at}: empty content`)
    const blocks = (typeof content === 'string' ? [{ type: 'text', text: content }] : content) as Block[]
    if (!Array.isArray(blocks)) flaws.push(`messages.${at}.content: neither text nor blocks`)
    else {
      const last = turns.at(-1)
      // consecutive messages of one role are merged
      if (last !== undefined && last.role === role) last.blocks.push(...blocks)
      else turns.push({ at, role: String(role), blocks: [...blocks] })
    }
  }
  if (turns[0]?.role !== 'user') flaws.push('messages.0: the first message has to be from the user')
  for (const turn of turns) flaws.push(...blockFlaws(turn))
  return [...flaws, ...pairFlaws(turns), ...serverToolFlaws(turns), ...thinkingFlaws(turns), ...fallbackFlaws(turns)]
}

const isText = ({ type }: Block): boolean => type === 'text'
const isThought = ({ type }: Block): boolean => type === 'thinking' || type === 'redacted_thinking'
const isServerCall = ({ type }: Block): boolean => type === 'server_tool_use' || type === 'mcp_tool_use'
const isServerResult = ({ type }: Block): boolean => type !== 'tool_result' && type.endsWith('_tool_result')

const ofAssistant = new Set([
  'tool_use',
  'thinking',
  'redacted_thinking',
  'fallback',
  'server_tool_use',
  'mcp_tool_use',
])

function blockFlaws({ at, role, blocks }: Turn): string[] {
  const flaws: string[] = []
  const say = (index: number, what: string) => flaws.push(`messages.${at}.content.${index}: ${what}`)
  if (blocks.every((block) => isText(block) && String(block.text).trim() === '')) say(0, 'only white space')
  for (const [index, block] of blocks.entries()) {
    const { type } = block
    if (isText(block) && (typeof block.text !== 'string' || block.text === '')) say(index, 'text is empty')
    if ((ofAssistant.has(type) || isServerResult(block)) && role !== 'assistant') say(index, `${type} of the ${role}`)
    if (type === 'tool_result' && role !== 'user') say(index, `tool_result of the ${role}`)
    if (type === 'tool_use') {
      if (!idPattern.test(String(block.id))) say(index, `id ${block.id} does not match the pattern`)
      if (!namePattern.test(String(block.name))) say(index, `name ${block.name} does not match the pattern`)
    }
    if (type === 'tool_use' || isServerCall(block)) {
      const { input } = block
      if (typeof input !== 'object' || input === null || Array.isArray(input)) say(index, 'input is not an object')
    }
    if (type === 'tool_result') {
      const { content } = block
      const isEmpty = content === undefined || content === '' || (Array.isArray(content) && content.length === 0)
      if (block.is_error === true && isEmpty) say(index, 'an error result has to say something')
      if (Array.isArray(content) && content.some((each: Block) => isText(each) && each.text === '')) {
        say(index, 'text in a result is empty')
      }
    }
    if (type.startsWith('openai_') || type.startsWith('ai_sdk_')) say(index, `unknown type ${type}`)
    if (typeof block.signature === 'string' && block.signature.startsWith('{')) say(index, 'a mark of an adapter')
  }
  return flaws
}

function pairFlaws(turns: readonly Turn[]): string[] {
  const flaws: string[] = []
  const known = new Set<unknown>()
  for (const [index, { at, role, blocks }] of turns.entries()) {
    const calls = blocks.filter(({ type }) => type === 'tool_use').map(({ id }) => id)
    for (const id of calls) {
      if (known.has(id)) flaws.push(`messages.${at}: tool_use ids are not unique: ${id}`)
      known.add(id)
    }
    const results = blocks.filter(({ type }) => type === 'tool_result').map(({ tool_use_id }) => tool_use_id)
    if (role === 'assistant') {
      const next = turns[index + 1]?.blocks ?? []
      const answered = next.filter(({ type }) => type === 'tool_result').map(({ tool_use_id }) => tool_use_id)
      for (const id of calls)
        if (!answered.includes(id)) flaws.push(`messages.${at}: tool_use ${id} without a tool_result`)
    } else {
      const asked = (turns[index - 1]?.blocks ?? []).filter(({ type }) => type === 'tool_use').map(({ id }) => id)
      for (const id of results) if (!asked.includes(id)) flaws.push(`messages.${at}: unexpected tool_result ${id}`)
      if (new Set(results).size < results.length) flaws.push(`messages.${at}: more than one tool_result for a call`)
      if (blocks.slice(0, results.length).some(({ type }) => type !== 'tool_result')) {
        flaws.push(`messages.${at}: results are not first`)
      }
    }
  }
  return flaws
}

/** The service runs these; their results are with the assistant, and until then only results may be sent. */
function serverToolFlaws(turns: readonly Turn[]): string[] {
  const flaws: string[] = []
  const open = new Set<unknown>()
  const callers = new Set<unknown>()
  for (const { at, role, blocks } of turns) {
    if (role === 'user' && open.size > 0 && blocks.some(({ type }) => type !== 'tool_result')) {
      flaws.push(`messages.${at}: ${[...open].join()} was found without its result, and more than results follow`)
    }
    for (const block of role === 'assistant' ? blocks : []) {
      if (isServerCall(block)) {
        open.add(block.id)
        callers.add(block.id)
      } else if (isServerResult(block) && !open.delete(block.tool_use_id)) {
        flaws.push(`messages.${at}: ${block.type} ${block.tool_use_id} has no call before it`)
      }
      const by = Object(block.caller).tool_id
      if (block.type === 'tool_use' && by !== undefined && !callers.has(by)) {
        flaws.push(`messages.${at}: the caller ${by} of ${block.id} is not there`)
      }
    }
  }
  return flaws
}

/** Signed, in their original order, and never last in a message. */
function thinkingFlaws(turns: readonly Turn[]): string[] {
  const thoughts = turns.flatMap(({ blocks }) => blocks.filter(({ type }) => type === 'thinking'))
  // services with this protocol that sign nothing still need their thinking back
  const isSigning = thoughts.some(({ signature }) => Boolean(signature))
  return turns.flatMap(({ at, role, blocks }) => {
    const flaws: string[] = []
    const last = blocks.at(-1)
    if (role === 'assistant' && last !== undefined && isThought(last))
      flaws.push(`messages.${at}: a thought is the last block`)
    for (const block of blocks) {
      if (block.type === 'thinking' && isSigning && !block.signature)
        flaws.push(`messages.${at}: a thought has no signature`)
    }
    return flaws
  })
}

/** Of what a model said before it declined, neither its thoughts nor its calls may come back, nor calls of the server without a result. */
function fallbackFlaws(turns: readonly Turn[]): string[] {
  return turns.flatMap(({ at, blocks }) => {
    const before = blocks.slice(
      0,
      Math.max(
        0,
        blocks.findLastIndex(({ type }) => type === 'fallback'),
      ),
    )
    const isPaired = ({ id }: Block) => before.some((each) => isServerResult(each) && each.tool_use_id === id)
    const wrong = before.filter(
      (block) => block.type === 'tool_use' || isThought(block) || (isServerCall(block) && !isPaired(block)),
    )
    return wrong.map(({ type }) => `messages.${at}: ${type} before the last fallback block`)
  })
}
