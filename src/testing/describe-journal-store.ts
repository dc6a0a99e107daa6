import type { TestFramework } from './describe-executor.ts'
import { JournalBench, type MakeJournalStore } from './journal-bench.ts'
import { journalLogRules } from './journal-log-rules.ts'
import { journalNoteRules } from './journal-note-rules.ts'

export interface JournalStoreTraits {
  /**
   * What happens when a session is opened while another owner has it: the new owner takes it, and the first can no
   * longer write (`fences`); or opening fails (`locked`).
   * @default 'fences'
   */
  readonly secondOwner?: 'fences' | 'locked' | undefined
}

/**
 * Registers the rules of a journal store as tests, for authors of stores.
 *
 * @example
 * describeJournalStore(() => ({ store: myJournals() }), { describe, it })
 */
export function describeJournalStore(
  makeStore: MakeJournalStore,
  { describe, it }: TestFramework,
  { secondOwner = 'fences' }: JournalStoreTraits = {},
): void {
  describe('a journal store', () => {
    for (const [name, rule] of Object.entries({ ...journalLogRules, ...journalNoteRules })) {
      it(name, async () => {
        const bench = new JournalBench(await makeStore(), secondOwner)
        try {
          await rule(bench)
        } finally {
          await bench.end()
        }
      })
    }
  })
}
