import type { BlockLike, ContentBlock } from '../../messages/message.ts'
import { asBlocks, textOf } from '../api-content.ts'
import { asRecord } from '../read-event.ts'

type SystemMessage = { role: 'system'; content: string; providerOptions?: Record<string, unknown> }

/** A cache mark of the Messages API in the form of the AI SDK. Other providers ignore it. */
export function cacheOptions({ cache_control }: ContentBlock): Record<string, unknown> {
  return asRecord(cache_control) === undefined ? {} : { anthropic: { cacheControl: cache_control } }
}

/** A system prompt as messages: one per cache mark, because a mark covers everything before it. */
export function systemMessages(system: string | readonly BlockLike[] | undefined): SystemMessage[] {
  const messages: SystemMessage[] = []
  let blocks: ContentBlock[] = []
  const flush = (options: Record<string, unknown>) => {
    const content = textOf(blocks)
    blocks = []
    if (content === '') return
    messages.push({ role: 'system', content, ...(Object.keys(options).length > 0 && { providerOptions: options }) })
  }
  for (const block of asBlocks(system)) {
    blocks.push(block)
    const options = cacheOptions(block)
    if (Object.keys(options).length > 0) flush(options)
  }
  flush({})
  return messages
}
