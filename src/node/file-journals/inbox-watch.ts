import { isSignalboxError } from '../../base/signalbox-error.ts'
import type { SessionNote } from '../../journal/journal.ts'
import type { Disk } from './disk.ts'
import type { Inbox } from './inbox.ts'

interface Owner {
  readonly id: string
  deliver(note: SessionNote): void
  fail(error: unknown): void
}

/** Delivers new notes to the owner: at once if the file system reports the change, otherwise at the next poll. */
export class InboxWatch {
  readonly #inbox: Inbox
  readonly #owner: Owner
  readonly #seen: Set<string>
  readonly #stop: () => void
  #scan: Promise<void> | undefined
  #isHinted = false
  #isOver = false

  constructor(disk: Disk, inbox: Inbox, folder: string, rescanMs: number, owner: Owner, seen: Set<string>) {
    this.#inbox = inbox
    this.#owner = owner
    this.#seen = seen
    const unwatch = disk.watch(folder, () => void this.look())
    const timer = setInterval(() => void this.look(), rescanMs)
    timer.unref()
    const stop = (): void => {
      clearInterval(timer)
      unwatch()
    }
    this.#stop = stop
  }

  /** Reads the inbox now, and once more if it changes meanwhile. */
  look(): Promise<void> {
    this.#isHinted = true
    this.#scan ??= this.#look().finally(() => {
      this.#scan = undefined
    })
    return this.#scan
  }

  async end(): Promise<void> {
    this.#isOver = true
    this.#stop()
    await this.#scan
  }

  async #look(): Promise<void> {
    while (this.#isHinted && !this.#isOver) {
      this.#isHinted = false
      try {
        for (const note of await this.#inbox.take(this.#owner.id, this.#seen)) this.#owner.deliver(note)
      } catch (error) {
        // a broken note stays broken; any other error may be gone at the next poll
        if (isSignalboxError(error)) this.#owner.fail(error)
      }
    }
  }
}
