import { join } from 'node:path'
import { isSignalboxError } from '../../base/signalbox-error.ts'
import { keyOf, type SessionNote } from '../../journal/journal.ts'
import { journalCorrupt } from '../../journal/journal-errors.ts'
import { type Disk, writeWhole } from './disk.ts'
import type { Sealer } from './options.ts'
import { noteFile, type SessionFiles } from './session-files.ts'

interface KeptNote {
  /** The number of earlier notes, so that notes are delivered in the order of arrival. */
  readonly order: number
  readonly note?: SessionNote
  readonly sealed?: string
}

const isNote = (name: string): boolean => /^[0-9a-f]{64}\.json$/.test(name)

/** The notes to one session: one file per key. The first file with a key wins, so no lock is needed. */
export class Inbox {
  readonly #disk: Disk
  readonly #files: SessionFiles
  readonly #sealer: Sealer

  constructor(disk: Disk, files: SessionFiles, sealer: Sealer) {
    this.#disk = disk
    this.#files = files
    this.#sealer = sealer
  }

  /** Durable when it resolves; false if a note with this key is there. */
  async put(note: SessionNote): Promise<boolean> {
    const { inbox } = this.#files
    await this.make()
    const path = noteFile(this.#files, keyOf(note))
    const order = (await this.#names()).length
    const text = JSON.stringify(note)
    const kept: KeptNote = this.#sealer.isSealing
      ? { order, sealed: await this.#sealer.seal(text, this.#about(path)) }
      : { order, note: JSON.parse(text) }
    const data = Buffer.from(JSON.stringify(kept))
    const isFirst = await writeWhole(this.#disk, path, data, (temporary) => this.#disk.link(temporary, path))
    // also for a stale note: its sender can rely on the first note being durable
    await this.#disk.syncFolder(inbox)
    return isFirst
  }

  async make(): Promise<void> {
    await this.#disk.makeFolder(this.#files.inbox)
    await this.#disk.syncFolder(this.#files.folder)
  }

  /** Notes in files that are not in `seen`, in order; their names are added to it. */
  async take(id: string, seen: Set<string>): Promise<SessionNote[]> {
    const names = (await this.#names()).filter((name) => !seen.has(name))
    const kept = await Promise.all(names.map((name) => this.#read(id, name)))
    for (const name of names) seen.add(name)
    return kept.sort((a, b) => a.order - b.order || (keyOf(a.note) < keyOf(b.note) ? -1 : 1)).map(({ note }) => note)
  }

  async #names(): Promise<string[]> {
    return (await this.#disk.list(this.#files.inbox)).filter(isNote)
  }

  async #read(id: string, name: string): Promise<{ order: number; note: SessionNote }> {
    const path = join(this.#files.inbox, name)
    const data = await this.#disk.read(path)
    try {
      const { order, note, sealed }: KeptNote = JSON.parse(Buffer.from(data ?? []).toString())
      const said: SessionNote =
        sealed === undefined ? note : JSON.parse(await this.#sealer.open(sealed, this.#about(path)))
      if (typeof keyOf(said) !== 'string') throw new Error('it has no key')
      return { order, note: said }
    } catch (error) {
      if (isSignalboxError(error)) throw error
      throw journalCorrupt(id, `the note ${path}`, error instanceof Error ? error.message : String(error), error)
    }
  }

  #about(path: string): string {
    return `${this.#files.name} note ${path.slice(this.#files.inbox.length + 1)}`
  }
}
