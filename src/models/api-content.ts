import type { BlockLike, ContentBlock } from '../messages/message.ts'
import type { ApiMessage } from '../messages/to-api-messages.ts'
import { asList, asRecord, asText } from './read-event.ts'

/** The content of a message as blocks. Other values are left out. */
export const blocksOf = ({ content }: ApiMessage): readonly ContentBlock[] => asBlocks(content)

export const asBlocks = (content: unknown): readonly ContentBlock[] =>
  typeof content === 'string'
    ? [{ type: 'text', text: content }]
    : asList(content).filter((block): block is ContentBlock => typeof asRecord(block)?.type === 'string')

/** A system prompt as one text. */
export const systemText = (system: string | readonly BlockLike[] | undefined): string | undefined =>
  asText(textOf(asBlocks(system)))

/** The text of blocks; blocks without text are left out. */
export const textOf = (blocks: readonly ContentBlock[]): string =>
  blocks.flatMap((block) => asText(wordsOf(block)) ?? []).join('\n\n')

function wordsOf(block: ContentBlock): string | undefined {
  if (block.type === 'text') return asText(block.text)
  if (block.type === 'document') return asText(plainTextOf(block))
  if (block.type !== 'search_result') return undefined
  return [block.title, block.source, textOf(asBlocks(block.content))].flatMap((part) => asText(part) ?? []).join('\n')
}

/** The text of a document that is itself text. */
function plainTextOf({ source }: ContentBlock): unknown {
  const given = asRecord(source)
  if (given?.type === 'text') return given.data
  return given?.type === 'content' ? textOf(asBlocks(given.content)) : undefined
}

/** An image or a document: base64 data, or a URL. */
export interface MediaFile {
  readonly kind: 'image' | 'document'
  readonly mediaType: string
  readonly data?: string
  readonly url?: string
  readonly name?: string
}

/** The file in a block, if services accept it. */
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

/** The text of a result, marked as an error for services that have no field for it. */
export function resultText(block: ContentBlock): string {
  const text = textOf(asBlocks(block.content))
  return block.is_error === true && !text.startsWith(errorTag) ? `${errorTag}${text}</tool_use_error>` : text
}

/** The input of a call as JSON text. */
export function inputText(input: unknown): string {
  try {
    return JSON.stringify(input ?? {}) ?? '{}'
  } catch {
    return '{}'
  }
}

/** The text of a custom tool, taken from the input that Signalbox created for it. */
export const customInput = (input: unknown): string => {
  const text = asRecord(input)?.input
  return typeof text === 'string' ? text : inputText(input)
}
