import type { ModelEvent } from '../../../src/models/model.ts'

/** The problem with the order of these events; undefined if it is valid. */
export function flawsOf(events: readonly ModelEvent[]): string[] {
  const flaws: string[] = []
  const open = new Set<number>()
  const seen = new Set<number>()
  let id: string | undefined
  let isOver = false
  for (const event of events) {
    if (isOver) flaws.push(`${event.type} after the end`)
    if (event.type === 'ping') continue
    if (event.type === 'error') {
      isOver = true
      continue
    }
    if (event.type === 'message_start') {
      if (event.message.id === id) flaws.push('a second start of the same message')
      if (typeof event.message.id !== 'string' || event.message.id === '') flaws.push('a message without an id')
      // another message restarts the reply
      id = event.message.id
      seen.clear()
      open.clear()
      continue
    }
    if (id === undefined) flaws.push(`${event.type} before the start`)
    if (event.type === 'content_block_start') {
      if (seen.has(event.index)) flaws.push(`block ${event.index} twice`)
      if (typeof event.content_block.type !== 'string') flaws.push('a block without a type')
      seen.add(event.index)
      open.add(event.index)
    } else if (event.type === 'content_block_delta') {
      if (!open.has(event.index)) flaws.push(`a piece for block ${event.index}, which is not open`)
    } else if (event.type === 'content_block_stop') {
      if (!open.delete(event.index)) flaws.push(`an end of block ${event.index}, which is not open`)
    } else if (event.type === 'message_stop') isOver = true
  }
  return flaws
}
