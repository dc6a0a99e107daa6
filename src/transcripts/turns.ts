import { type Entry, hasContent } from './entry.ts'

/**
 * Turns, one by one: a reply of the assistant with all that is sent after it, up to the next reply. What comes before
 * the first reply is a turn too. Own messages of one reply belong together even where something of the user stands
 * between them, since results may come while a reply is still under way.
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
