import { type Entry, hasContent } from './entry.ts'

/**
 * Splits a transcript into turns: a reply of the assistant with all messages up to the next reply. The messages before the
 * first reply are a turn too. Our own messages of one reply stay together even if user messages are between them,
 * because results may arrive while a reply is still streaming.
 */
export function turnsOf(entries: readonly Entry[]): Entry[][] {
  const turns: Entry[][] = []
  let hasReply = false
  let isAnswered = false
  let reply: string | undefined
  for (const entry of entries) {
    const isOther = entry.reply === undefined || entry.reply !== reply
    const isNext = entry.side === 'assistant' && (!hasReply || (isAnswered && isOther))
    const turn = turns.at(-1)
    if (turn === undefined || isNext) turns.push([entry])
    else turn.push(entry)
    if (isNext) isAnswered = false
    if (entry.side === 'assistant') {
      hasReply = true
      reply = entry.reply
    } else isAnswered ||= entry.side === 'user' && hasContent(entry)
  }
  return turns
}
