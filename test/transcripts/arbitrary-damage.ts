import fc from 'fast-check'
import type { ContentBlock } from '../../src/index.ts'

/** A message of either form, for damaging it. */
type Loose = { type?: string; role?: string; content?: unknown; message?: { content?: unknown } }

interface Spot {
  readonly message: number
  readonly other: number
  readonly block: number
}

const at = <Item>(list: readonly Item[], seed: number): number => (list.length === 0 ? 0 : seed % list.length)

const contentOf = (message: unknown): unknown => {
  const { message: inner, content } = (message ?? {}) as Loose
  return inner === undefined ? content : inner.content
}

const blocksIn = (message: unknown): ContentBlock[] => {
  const content = contentOf(message)
  return Array.isArray(content) ? content.filter((block) => typeof block === 'object' && block !== null) : []
}

function edit(messages: unknown[], spot: Spot, change: (blocks: ContentBlock[], index: number) => void): void {
  const content = contentOf(messages[at(messages, spot.message)])
  if (Array.isArray(content) && content.length > 0) change(content, at(content, spot.block))
}

const setContent = (messages: unknown[], { message }: Spot, content: unknown): void => {
  const target = messages[at(messages, message)] as Loose | undefined
  // assistant messages of our own form contain blocks
  if (target?.type === 'assistant' && typeof content === 'string') return
  if (target?.message !== undefined) target.message.content = content
  else if (target?.role !== undefined) target.content = content
}

const copyOf = (message: unknown): unknown => structuredClone(message)

/** Damage as it happens in practice; each function changes the given array. */
const damages = {
  lost: (messages, { message }) => void messages.splice(at(messages, message), 1),
  doubled: (messages, { message, other }) =>
    void messages.splice(at(messages, other), 0, ...messages.slice(at(messages, message)).slice(0, 1).map(copyOf)),
  moved: (messages, { message, other }) =>
    void messages.splice(at(messages, other), 0, ...messages.splice(at(messages, message), 1)),
  cutBefore: (messages, { message }) => void messages.splice(0, at(messages, message)),
  cutAfter: (messages, { message }) => void messages.splice(at(messages, message) + 1),
  blockLost: (messages, spot) => edit(messages, spot, (blocks, index) => blocks.splice(index, 1)),
  blockDoubled: (messages, spot) =>
    edit(messages, spot, (blocks, index) => blocks.push(structuredClone(blocks[index] as ContentBlock))),
  blockMoved: (messages, spot) =>
    edit(messages, spot, (blocks, index) => {
      const target = contentOf(messages[at(messages, spot.other)])
      if (Array.isArray(target)) target.push(...blocks.splice(index, 1))
    }),
  textFirst: (messages, spot) => edit(messages, spot, (blocks) => blocks.unshift({ type: 'text', text: 'Wait!' })),
  emptyText: (messages, spot) => edit(messages, spot, (blocks) => blocks.push({ type: 'text', text: '' })),
  emptied: (messages, spot) => setContent(messages, spot, []),
  emptyString: (messages, spot) => setContent(messages, spot, ''),
  blank: (messages, spot) => setContent(messages, spot, [{ type: 'text', text: ' \n' }]),
  idTaken: (messages, spot) =>
    edit(messages, spot, (blocks, index) => {
      const block = blocks[index] as ContentBlock
      if ('tool_use_id' in block) block.tool_use_id = 'toolu_0_0'
      else if ('id' in block && block.type === 'tool_use') block.id = 'toolu_0_0'
    }),
  idOdd: (messages, spot) =>
    edit(messages, spot, (blocks, index) => {
      const block = blocks[index] as ContentBlock
      if (block.type === 'tool_use') block.id = 'functions.Bash:0'
      if (block.type === 'tool_result') block.tool_use_id = 'functions.Bash:0'
    }),
  // ids of another service, in the call and in its result; one of them equals the other after cleaning
  idForeign: (messages, spot) => {
    const ids = [
      ...new Set(messages.flatMap(blocksIn).flatMap(({ id, tool_use_id }) => [id ?? tool_use_id ?? []].flat())),
    ]
    const id = ids[at(ids, spot.block)]
    const other = ['functions.Bash:0', 'functions_Bash_0', 'functions.Bash.0', 'functions Bash 0'][spot.other % 4] ?? ''
    for (const block of messages.flatMap(blocksIn)) {
      if (block.type === 'tool_use' && block.id === id) block.id = other
      if (block.type === 'tool_result' && block.tool_use_id === id) block.tool_use_id = other
    }
  },
  nameLost: (messages, spot) =>
    edit(messages, spot, (blocks, index) => {
      const block = blocks[index] as ContentBlock
      if (block.type === 'tool_use') block.name = ''
    }),
  inputText: (messages, spot) =>
    edit(messages, spot, (blocks, index) => {
      const block = blocks[index] as ContentBlock
      if (block.type === 'tool_use') block.input = '{"command":'
    }),
  errorEmpty: (messages, spot) =>
    edit(messages, spot, (blocks, index) => {
      const block = blocks[index] as ContentBlock
      if (block.type === 'tool_result') Object.assign(block, { content: '', is_error: true })
    }),
} satisfies Record<string, (messages: unknown[], spot: Spot) => void>

const damage = fc.record({
  kind: fc.constantFrom(...(Object.keys(damages) as (keyof typeof damages)[])),
  spot: fc.record({ message: fc.nat(40), other: fc.nat(40), block: fc.nat(8) }),
})

/** The transcript after some damage. */
export const damaged = <Item>(transcript: fc.Arbitrary<Item[]>): fc.Arbitrary<Item[]> =>
  fc.tuple(transcript, fc.array(damage, { maxLength: 6 })).map(([messages, all]) => {
    const copy = structuredClone(messages)
    for (const { kind, spot } of all) damages[kind](copy, spot)
    return copy
  })
