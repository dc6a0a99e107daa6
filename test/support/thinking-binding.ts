/**
 * Newer models of the Messages API bind each signed thought to what stood before it: `system`, `tools`, and every earlier
 * block. This is what the service's pages on preserved thinking (prefix checks) say, and all that is checked here:
 *
 * - a change of any of those makes the thoughts after it invalid, and the request is refused;
 * - `cache_control` is not compared, and neither is how blocks of one role are spread over messages;
 * - thoughts may be left out from the front, but not from between others, and they may not be moved.
 *
 * It knows nothing of `src/`. A signature that was never streamed here is bound to the request that first brings it.
 */
export class ThinkingBinding {
  readonly #known = new Map<string, Prefix[]>()

  /** Why the service would reject the request. */
  flaws(request: unknown): string[] {
    const said = blocksOf(request)
    const flaws: string[] = []
    for (const [at, { block }] of said.entries()) {
      const signature = signatureOf(block)
      if (signature === undefined) continue
      const prefix = prefixOf(request, said.slice(0, at))
      const known = this.#known.get(signature)
      if (known === undefined) this.#known.set(signature, [prefix])
      else if (!known.some((made) => isSame(made, prefix))) {
        flaws.push(`thinking ${signature}: the block is bound to a different conversation`)
      }
    }
    return flaws
  }

  /** Records the service's events for the request. */
  replyTo(request: unknown): (event: unknown) => void {
    const asked = blocksOf(request)
    let reply: { readonly index: unknown; readonly block: Block }[] = []
    return (event) => {
      const { type, index, content_block, delta, message } = Object(event) as Record<string, unknown>
      // a reply may begin with complete blocks
      if (type === 'message_start') reply = listOf(Object(message).content).map((block) => ({ index: -1, block }))
      if (type === 'content_block_start') {
        const block = { ...(content_block as Block) }
        // neither the thinking nor the calls of a model that declined may be sent back
        if (block.type === 'fallback') reply = reply.filter((each) => !isOfDeclined(each.block))
        reply.push({ index, block })
      }
      const at = reply.findLastIndex((each) => each.index === index)
      const block = reply[at]?.block
      if (type === 'content_block_delta' && block !== undefined) append(block, Object(delta))
      const signature = type === 'content_block_stop' && block !== undefined ? signatureOf(block) : undefined
      if (signature === undefined) return
      const before = reply.slice(0, at).map((each) => ({ role: 'assistant', block: each.block }))
      const made = { ...prefixOf(request, [...asked, ...before]), asked: asked.filter(isSaid).length }
      this.#known.set(signature, [...(this.#known.get(signature) ?? []), made])
    }
  }

  forget(): void {
    this.#known.clear()
  }
}

type Block = Record<string, unknown> & { type: string }
interface Said {
  readonly role: string
  readonly block: Block
}

interface Prefix {
  readonly frame: string
  /** Everything except thinking. */
  readonly said: readonly Said[]
  /** Each with the number of blocks before it, not counting thinking. */
  readonly thoughts: readonly string[]
  /** How many were in the request; later ones belong to the reply itself and are compared by id. */
  readonly asked?: number
}

const isThought = ({ type }: Block): boolean => type === 'thinking' || type === 'redacted_thinking'
const isOfDeclined = (block: Block): boolean => isThought(block) || block.type === 'tool_use'
const listOf = (value: unknown): Block[] => (Array.isArray(value) ? value : [])
const isSaid = ({ block }: Said): boolean => !isThought(block) && !(block.type === 'text' && block.text === '')
const signatureOf = (block: Block): string | undefined =>
  isThought(block) ? String(block.signature ?? block.data ?? '') || undefined : undefined

function blocksOf(request: unknown): Said[] {
  const { messages } = Object(request) as { messages?: { role: string; content: string | Block[] }[] }
  return (messages ?? []).flatMap(({ role, content }) =>
    (typeof content === 'string' ? [{ type: 'text', text: content }] : content).map((block) => ({ role, block })),
  )
}

function prefixOf(request: unknown, before: readonly Said[]): Prefix {
  const { system, tools } = Object(request) as Record<string, unknown>
  const said: Said[] = []
  const thoughts: string[] = []
  for (const each of before) {
    if (isThought(each.block)) thoughts.push(`${said.length} ${signatureOf(each.block)}`)
    else if (isSaid(each)) said.push(each)
  }
  return { frame: asText([system ?? '', tools ?? []]), said, thoughts }
}

function isSame(made: Prefix, now: Prefix): boolean {
  if (made.frame !== now.frame || made.said.length !== now.said.length) return false
  const { asked = made.said.length } = made
  const isUnchanged = now.said.every((each, at) => {
    const before = made.said[at]
    return before !== undefined && (at < asked ? asText(before) === asText(each) : nameOf(before) === nameOf(each))
  })
  return isUnchanged && made.thoughts.slice(made.thoughts.length - now.thoughts.length).join() === now.thoughts.join()
}

/** Deltas of inputs and citations are not assembled here. */
const nameOf = ({ role, block }: Said): string =>
  asText([role, block.type, block.id ?? block.tool_use_id ?? block.text ?? ''])

const asText = (value: unknown): string =>
  JSON.stringify(value, (key, each: unknown) => (key === 'cache_control' ? undefined : sorted(each)))

const sorted = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
    : value

function append(block: Block, delta: Record<string, unknown>): void {
  if (typeof delta.text === 'string') block.text = `${block.text ?? ''}${delta.text}`
  if (typeof delta.signature === 'string') block.signature = `${block.signature ?? ''}${delta.signature}`
}
