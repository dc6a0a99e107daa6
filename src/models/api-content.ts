import type { BlockLike, ContentBlock } from '../messages/message.ts'
import type { ApiMessage } from '../messages/to-api-messages.ts'
import { asList, asRecord, asText } from './read-event.ts'

/** What a message holds, as blocks. What is no block is left out. */
export const blocksOf = ({ content }: ApiMessage): readonly ContentBlock[] => asBlocks(content)

export const asBlocks = (content: unknown): readonly ContentBlock[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : asList(content).filter((block): block is ContentBlock => typeof asRecord(block)?.type === 'string')

/** A system prompt as one text. */
export const systemText = (system: string | readonly BlockLike[] | undefined): string | undefined =>
  asText(textOf(asBlocks(system)))

/** The words of blocks; what has none is left out. */
export const textOf = (blocks: readonly ContentBlock[]): string =>
  blocks.flatMap((block) => asText(wordsOf(block)) ?? []).join('\n\n')

function wordsOf(block: ContentBlock): string | undefined {
  if (block.type === 'text') return asText(block.text)
  if (block.type === 'document') return asText(plainTextOf(block))
  if (block.type !== 'search_result') return undefined
  return [block.title, block.source, textOf(asBlocks(block.content))].flatMap((part) => asText(part) ?? []).join('\n')
}

/** Of a document that is text itself. */
function plainTextOf({ source }: ContentBlock): unknown {
  const given = asRecord(source)
  if (given?.type === 'text') return given.data
  return given?.type === 'content' ? textOf(asBlocks(given.content)) : undefined
}

/** A picture or a document: bytes in base64, or an address. */
export interface MediaFile {
  readonly kind: 'image' | 'document'
  readonly mediaType: string
  readonly data?: string
  readonly url?: string
  readonly name?: string
}

/** The file that a block holds, if it holds one that any service takes. */
export function fileOf(block: ContentBlock): MediaFile | undefined {
  if (block.type !== 'image' && block.type !== 'document') return undefined
  const source = asRecord(block.source)
  const kind = block.type
  const mediaType = asText(source?.media_type) ?? (kind === 'image' ? 'image/png' : 'application/pdf')
  const name = asText(block.title)
  const data = source?.type === 'base64' ? asText(source.data) : undefined
  const url = source?.type === 'url' ? asText(source.url) : undefined
  if (data === undefined && url === undefined) return undefined
  return { kind, mediaType, ...(data && { data }), ...(url && { url }), ...(name && { name }) }
}

export const dataUrl = ({ mediaType, data, url }: MediaFile): string => url ?? `data:${mediaType};base64,${data}`

const errorTag = '<tool_use_error>'

/** The text of a result, marked where the service has no other way to learn that it is an error. */
export function resultText(block: ContentBlock): string {
  const text = textOf(asBlocks(block.content))
  return block.is_error === true && !text.startsWith(errorTag) ? `${errorTag}${text}</tool_use_error>` : text
}

/** The input of a call as the text that services take. */
export function inputText(input: unknown): string {
  try {
    return JSON.stringify(input ?? {}) ?? '{}'
  } catch {
    return '{}'
  }
}

/** The text that a custom tool got, out of the input that Signalbox made of it. */
export const customInput = (input: unknown): string => {
  const text = asRecord(input)?.input
  return typeof text === 'string' ? text : inputText(input)
}
