import { type Entry, type Form, hasContent } from './entry.ts'
import type { Report } from './transcript-problem.ts'
import { problemTexts } from './transcript-texts.ts'
import { turnsOf } from './turns.ts'

/**
 * Without the messages that say nothing. Own messages are sent together, one for each change of sides, so there a
 * message may be empty as long as what it is sent with is not.
 */
export function dropEmpty(entries: readonly Entry[], form: Form, report: Report): Entry[] {
  const dropped = new Set<Entry>(entries.filter(isHusk))
  for (const run of form === 'own' ? sentTogether(entries) : alone(entries)) {
    if (!run.every(isBlank)) continue
    for (const entry of run) {
      dropped.add(entry)
      // what was emptied by a change has been reported with it
      if (entry.state === 'kept' || entry.slots.length > 0) {
        report({ code: 'empty_message', at: entry.at, message: problemTexts.emptyMessage, done: 'dropped' })
      }
    }
  }
  return dropped.size === 0 ? [...entries] : entries.filter((entry) => !dropped.has(entry))
}

/** What is left of a message that had nothing but what had to go. */
const isHusk = (entry: Entry): boolean => entry.side === 'user' && entry.state !== 'kept' && !hasContent(entry)

const isBlank = ({ slots, isOpaque }: Entry): boolean => !isOpaque && slots.every((slot) => slot.isBlank)

const alone = (entries: readonly Entry[]): Entry[][] =>
  entries.filter(({ side }) => side !== 'aside').map((entry) => [entry])

const sentTogether = (entries: readonly Entry[]): Entry[][] =>
  turnsOf(entries).flatMap((turn) => [
    turn.filter(({ side }) => side === 'assistant'),
    // one of the user without blocks adds nothing to what is sent
    turn.filter((entry) => entry.side === 'user' && hasContent(entry)),
  ])
