import type { ContentBlock } from 'signalbox'
import { isRecord, isSameValue } from './plain-values.ts'

const imageTypes = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])
/** The limit of the services; more images would fail the whole request. */
const maxImageChars = 6_600_000
const maxImages = 20

/** Converts a server's result content for the model. Content that cannot be shown is described. */
export function contentBlocks(content: readonly unknown[], structured?: unknown): ContentBlock[] {
  let images = 0
  const blocks = content.map((item) => {
    const block = blockOf(item)
    if (block.type === 'image' && ++images > maxImages) return text('[Image omitted: too many images.]')
    return block
  })
  if (structured !== undefined && !isInText(blocks, structured)) blocks.push(text(JSON.stringify(structured)))
  return blocks
}

const text = (words: string): ContentBlock => ({ type: 'text', text: words })

const said = (value: unknown): string => (typeof value === 'string' ? value : '')

const readers: Readonly<Record<string, (item: Record<string, unknown>) => ContentBlock>> = {
  text: ({ text: words }) => text(typeof words === 'string' ? words : (JSON.stringify(words) ?? '')),
  image: ({ data, mimeType }) => imageOf(data, mimeType, 'image'),
  audio: ({ data, mimeType }) =>
    text(`[Audio, ${said(mimeType) || 'of unknown type'}, ${sizeOf(data)}: audio is not supported.]`),
  resource: ({ resource }) => (isRecord(resource) ? resourceBlock(resource) : text('[A resource without content.]')),
  resource_link: (link) => text(linkText(link)),
}

function blockOf(item: unknown): ContentBlock {
  if (!isRecord(item)) return text(`[Invalid content: ${JSON.stringify(item)?.slice(0, 500)}]`)
  const type = said(item.type)
  const reader = Object.hasOwn(readers, type) ? readers[type] : undefined
  if (reader !== undefined) return reader(item)
  return text(`[Content of an unknown type: ${JSON.stringify(item).slice(0, 2_000)}]`)
}

/** The content of a resource: its text, its image, or a description. */
export function resourceBlock({ uri, mimeType, text: words, blob }: Record<string, unknown>): ContentBlock {
  const name = `${said(uri)}${said(mimeType) === '' ? '' : ` (${said(mimeType)})`}`
  if (typeof words === 'string') return text(`[${name}]\n${words}`)
  return imageTypes.has(said(mimeType))
    ? imageOf(blob, mimeType, name)
    : text(`[${name}: ${sizeOf(blob)} of binary data, not shown.]`)
}

function imageOf(data: unknown, mimeType: unknown, name: string): ContentBlock {
  const type = said(mimeType)
  const isUsable = typeof data === 'string' && /^[A-Za-z0-9+/]+={0,2}$/.test(data) && data.length <= maxImageChars
  if (imageTypes.has(type) && isUsable) return { type: 'image', source: { type: 'base64', media_type: type, data } }
  return text(
    `[${name}, ${type || 'of unknown type'}, ${sizeOf(data)}: the image type is not supported, or the image is invalid or too large.]`,
  )
}

function linkText({ uri, name, description, mimeType }: Record<string, unknown>): string {
  const more = [said(mimeType), said(description)].filter((each) => each !== '').join(', ')
  return `[Resource ${said(name) || said(uri)}: ${said(uri)}${more === '' ? '' : ` (${more})`}. Use ReadMcpResource to read it.]`
}

const sizeOf = (base64: unknown): string => `${Math.floor((said(base64).length * 3) / 4)} bytes`

const maxLeaves = 100

/** Servers often repeat structured content as text, in varying formats; the model gets it once. */
function isInText(blocks: readonly ContentBlock[], structured: unknown): boolean {
  const texts = blocks.flatMap(({ text: words }) => (typeof words === 'string' ? [words] : []))
  if (texts.some((words) => isJsonOf(words, structured))) return true
  const leaves = leavesOf(structured).slice(0, maxLeaves + 1)
  if (leaves.length === 0 || leaves.length > maxLeaves) return false
  return leaves.every((leaf) => texts.some((words) => words.includes(leaf)))
}

function isJsonOf(words: string, value: unknown): boolean {
  try {
    return isSameValue(JSON.parse(words), value)
  } catch {
    return false
  }
}

function leavesOf(value: unknown): string[] {
  if (typeof value === 'object' && value !== null) return Object.values(value).flatMap(leavesOf)
  return typeof value === 'string' || typeof value === 'number' ? [String(value)] : []
}
