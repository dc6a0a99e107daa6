import { randomUUID } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { sessionLocked } from '../../journal/journal-errors.ts'
import { type Disk, writeWhole } from './disk.ts'
import type { ProcessIdentity, ProcessView } from './process-identity.ts'
import type { SessionFiles } from './session-files.ts'

interface LockNote extends ProcessIdentity {
  readonly token: string
  readonly owner: string
}

interface HeldLock {
  readonly generation: number
  readonly path: string
  readonly note: LockNote | undefined
}

/**
 * A lock is a file with a number; the highest number counts. The lock of a dead owner is not removed: two processes that
 * both remove it could each remove the other's new lock. Instead, a process takes the next number, then checks that there
 * is no higher number and that the previous lock is still that of the dead owner.
 */
export class SessionLocks {
  readonly #disk: Disk
  readonly #processes: ProcessView

  constructor(disk: Disk, processes: ProcessView) {
    this.#disk = disk
    this.#processes = processes
  }

  /** Rejects with `session_locked`. Resolves with a function that releases the lock. */
  async take(id: string, files: SessionFiles, owner: string): Promise<() => Promise<void>> {
    for (let attempts = 0; attempts < 20; attempts++) {
      const [dead] = await this.#held(files)
      if (dead !== undefined) this.#checkDead(id, dead)
      const release = await this.#outnumber(files, owner, dead)
      if (release !== undefined) return release
      // somebody else was as fast
      await wait(Math.random() * 10)
    }
    throw sessionLocked(id, 'other processes are opening it. Try again.')
  }

  /** The holder of the lock, unless it is known to be dead. */
  async ownerOf(files: SessionFiles, names?: readonly string[]): Promise<string | undefined> {
    const [highest] = await this.#held(files, names)
    if (highest === undefined || this.#isDead(highest)) return undefined
    return highest.note?.owner ?? 'unknown'
  }

  async #outnumber(
    files: SessionFiles,
    owner: string,
    dead: HeldLock | undefined,
  ): Promise<(() => Promise<void>) | undefined> {
    const generation = dead === undefined ? 0 : dead.generation + 1
    const path = join(files.folder, `${files.name}.${generation}.lock`)
    const note: LockNote = { ...this.#processes.self, owner, token: randomUUID() }
    const data = Buffer.from(JSON.stringify(note))
    if (!(await writeWhole(this.#disk, path, data, (temporary) => this.#disk.link(temporary, path)))) return undefined
    const [highest, ...lower] = await this.#held(files)
    if (highest?.note?.token !== note.token || lower[0]?.note?.token !== dead?.note?.token) {
      await this.#disk.remove(path)
      return undefined
    }
    for (const each of lower) await this.#disk.remove(each.path)
    return () => this.#disk.remove(path)
  }

  /** The locks of a session, the one that counts first. */
  async #held({ folder, name }: SessionFiles, names?: readonly string[]): Promise<HeldLock[]> {
    const found = (names ?? (await this.#disk.list(folder))).flatMap((file) => {
      const generation = file.startsWith(name) ? /^\.(\d+)\.lock$/.exec(file.slice(name.length))?.[1] : undefined
      return generation === undefined ? [] : { generation: Number(generation), path: join(folder, file) }
    })
    found.sort((a, b) => b.generation - a.generation)
    const held = await Promise.all(found.map(async (lock) => ({ ...lock, text: await this.#disk.read(lock.path) })))
    return held.flatMap(({ text, ...lock }) => (text === undefined ? [] : { ...lock, note: parseNote(text) }))
  }

  #isDead({ note }: HeldLock): boolean {
    // locks are written atomically: an empty lock is left from a power failure, which also ended its owner
    return note === undefined || this.#processes.liveness(note) === 'dead'
  }

  #checkDead(id: string, lock: HeldLock): void {
    if (this.#isDead(lock)) return
    const { owner, host, pid } = lock.note as LockNote
    const isHere = this.#processes.liveness(lock.note as LockNote) === 'alive'
    throw sessionLocked(
      id,
      isHere
        ? pid === this.#processes.self.pid
          ? `${owner} in this process has it. Use that session, or close it first.`
          : `${owner} (process ${pid}) has it.`
        : `${owner} (process ${pid} on ${host}) has it, and this process cannot tell whether that one is alive. If it is not, remove ${lock.path}.`,
    )
  }
}

function parseNote(data: Uint8Array): LockNote | undefined {
  try {
    return JSON.parse(Buffer.from(data).toString())
  } catch {
    return undefined
  }
}
