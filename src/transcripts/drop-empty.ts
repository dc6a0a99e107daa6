import { type Entry, type Form, hasContent, turnsOf } from './entry.ts'
import type { Report } from './transcript-problem.ts'
import { problemTexts } from './transcript-texts.ts'

/**
 * Removes empty messages. Messages of our own form are merged before they are sent, one per change of sides, so one of
 * them may be empty as long as the merged message is not.
 */
export function dropEmpty(entries: readonly Entry[], form: Form, report: Report): Entry[] {
  const dropped = new Set<Entry>(entries.filter(isHusk))
  for (const run of form === 'own' ? sentTogether(entries) : alone(entries)) {
    if (!run.every(isBlank)) continue
    for (const entry of run) {
      dropped.add(entry)
      // an entry that was emptied by a change was reported with that change
      if (entry.state === 'kept' || entry.slots.length > 0) {
        report({ code: 'empty_message', at: entry.at, message: problemTexts.emptyMessage, done: 'dropped' })
      }
    }
  }
  return dropped.size === 0 ? [...entries] : entries.filter((entry) => !dropped.has(entry))
}

/** A user message whose whole content was removed. */
const isHusk = (entry: Entry): boolean => entry.side === 'user' && entry.state !== 'kept' && !hasContent(entry)

const isBlank = ({ slots, isOpaque }: Entry): boolean => !isOpaque && slots.every((slot) => slot.isBlank)

const alone = (entries: readonly Entry[]): Entry[][] =>
  entries.filter(({ side }) => side !== 'aside').map((entry) => [entry])

const sentTogether = (entries: readonly Entry[]): Entry[][] =>
  turnsOf(entries).flatMap((turn) => [
    turn.filter(({ side }) => side === 'assistant'),
    // a user message without blocks adds nothing to the merged message
    turn.filter((entry) => entry.side === 'user' && hasContent(entry)),
  ])
