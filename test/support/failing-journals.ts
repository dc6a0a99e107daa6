import { type JournalStore, memoryJournals } from 'signalbox/durable'

/** A store whose disk can fill up: from then on nothing more becomes durable, until it is opened again. */
export function failingJournals(): { journals: JournalStore; breakDown: () => void; mend: () => void } {
  const store = memoryJournals()
  let isBroken = false
  const journals: JournalStore = {
    ...store,
    async open(id, options) {
      const journal = await store.open(id, options)
      let hasFailed = false
      return {
        id: journal.id,
        records: journal.records,
        onNote: (listener) => journal.onNote(listener),
        close: () => journal.close(),
        append: (record) => {
          if (!isBroken && !hasFailed) journal.append(record)
        },
        flush: () => {
          hasFailed ||= isBroken
          return hasFailed ? Promise.reject(new Error('ENOSPC: no space left on device')) : journal.flush()
        },
      }
    },
  }
  const setBroken = (value: boolean) => (): void => {
    isBroken = value
  }
  return { journals, breakDown: setBroken(true), mend: setBroken(false) }
}
