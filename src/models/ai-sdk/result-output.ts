import type { ContentBlock } from '../../messages/message.ts'
import { asBlocks, fileOf, type MediaFile, textOf } from '../api-content.ts'
import { cacheOptions } from './cache-control.ts'

type PromptPart = Record<string, unknown>

/** The version of the language model interface. */
export type SpecificationVersion = 'v2' | 'v3' | 'v4'

/** A block of a user message as prompt parts. */
export function heardPart(block: ContentBlock, version: SpecificationVersion): PromptPart[] {
  const kept = cacheOptions(block)
  const options = Object.keys(kept).length > 0 && { providerOptions: kept }
  const file = fileOf(block)
  if (file !== undefined) return [{ ...filePart(file, version), ...options }]
  const text = textOf([block])
  return text === '' ? [] : [{ type: 'text', text, ...options }]
}

function filePart(file: MediaFile, version: SpecificationVersion): PromptPart {
  const head = { type: 'file', mediaType: file.mediaType, ...(file.name !== undefined && { filename: file.name }) }
  return { ...head, data: version === 'v4' ? taggedData(file) : (address(file) ?? file.data) }
}

const address = ({ url }: MediaFile): URL | undefined =>
  url !== undefined && URL.canParse(url) ? new URL(url) : undefined

function taggedData(file: MediaFile): PromptPart {
  const url = address(file)
  return url === undefined ? { type: 'data', data: file.data ?? '' } : { type: 'url', url }
}

/** The content of a tool result. */
export function resultOutput(block: ContentBlock, version: SpecificationVersion): PromptPart {
  const blocks = asBlocks(block.content)
  const isError = block.is_error === true
  if (!blocks.some((each) => fileOf(each) !== undefined)) {
    return { type: isError ? 'error-text' : 'text', value: textOf(blocks) }
  }
  const marked = isError ? [{ type: 'text', text: 'This is an error.' }] : []
  return { type: 'content', value: [...marked, ...blocks.flatMap((each) => outputPart(each, version))] }
}

/** Each version has its own form for files in results. */
function outputPart(block: ContentBlock, version: SpecificationVersion): PromptPart[] {
  const file = fileOf(block)
  if (file === undefined || version === 'v4') return heardPart(block, version)
  const { mediaType, data, url, kind } = file
  if (data === undefined) {
    if (version === 'v2') return [{ type: 'text', text: `${url}` }]
    return [{ type: kind === 'image' ? 'image-url' : 'file-url', url }]
  }
  if (version === 'v2') return [{ type: 'media', data, mediaType }]
  return [{ type: kind === 'image' ? 'image-data' : 'file-data', data, mediaType }]
}
