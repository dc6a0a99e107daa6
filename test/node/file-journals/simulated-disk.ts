import { dirname } from 'node:path'
import type { Disk, DiskFile } from '../../../src/node/file-journals/disk.ts'
import type { ProcessView } from '../../../src/node/file-journals/process-identity.ts'

interface Content {
  now: Uint8Array
  synced: Uint8Array
}

const sector = 512

/** Whether the disk has what was written, but not synced, at a byte: the nth since the first such byte of the file. */
export type Survival = (nth: number, position: number) => boolean

/** What a fault does: nothing, an error, or an error after part of the data was written. */
export type Fault = (step: { readonly n: number; readonly what: string; readonly path: string }) => string | undefined

/** A disk in memory that can lose power and fail at any step. */
export class SimulatedDisk implements Disk {
  /** Names as they are, and as they would be after a power failure. */
  names = new Map<string, Content>()
  syncedNames = new Map<string, Content>()
  readonly folders = new Set<string>()
  readonly hints = new Set<{ folder: string; hint: () => void }>()
  /** Steps that change the disk, counted from 0. */
  steps = 0
  fault: Fault = () => undefined
  hasHints = true

  /** Drops what was not synced, apart from the bytes that survive. */
  losePower(survives: Survival): void {
    this.names = new Map(
      [...this.syncedNames].map(([path, content]) => {
        const after = afterPowerLoss(content, survives)
        return [path, { now: after, synced: after }]
      }),
    )
    this.syncedNames = new Map(this.names)
    this.hints.clear()
  }

  read = async (path: string) => this.names.get(path)?.now.slice()
  list = async (folder: string) =>
    [...this.names.keys()].filter((path) => dirname(path) === folder).map((path) => path.slice(folder.length + 1))
  changedAt = async () => 0
  now = async () => Date.now()

  async makeFolder(path: string): Promise<void> {
    if (this.folders.has(path)) return
    this.#step('mkdir', path)
    this.folders.add(path)
  }

  async write(path: string, data: Uint8Array): Promise<void> {
    const content: Content = { now: new Uint8Array(), synced: new Uint8Array() }
    this.#step('create', path)
    this.names.set(path, content)
    this.#write(path, content, data, 0)
    this.#step('sync', path)
    content.synced = content.now
  }

  async open(path: string): Promise<DiskFile> {
    const content = this.names.get(path) ?? { now: new Uint8Array(), synced: new Uint8Array() }
    if (!this.names.has(path)) {
      this.#step('create', path)
      this.names.set(path, content)
    }
    return {
      size: () => content.now.length,
      isNamed: () => [...this.names.values()].includes(content),
      byteAt: (position) => content.now[position],
      write: async (data, position) => this.#write(path, content, data, position),
      sync: async () => {
        this.#step('sync', path)
        content.synced = content.now
      },
      truncate: async (length) => {
        this.#step('truncate', path)
        content.now = content.now.slice(0, length)
      },
      close: async () => undefined,
    }
  }

  async link(from: string, to: string): Promise<boolean> {
    if (this.names.has(to)) return false
    this.#step('link', to)
    this.names.set(to, this.#content(from))
    this.#hint(to)
    return true
  }

  async rename(from: string, to: string): Promise<void> {
    this.#step('rename', to)
    this.names.set(to, this.#content(from))
    this.names.delete(from)
  }

  async remove(path: string): Promise<void> {
    const all = [...this.names.keys()].filter((name) => name === path || name.startsWith(`${path}/`))
    if (all.length > 0) this.#step('remove', path)
    for (const name of all) this.names.delete(name)
  }

  async syncFolder(folder: string): Promise<void> {
    this.#step('sync folder', folder)
    for (const path of [...this.syncedNames.keys()]) {
      if (dirname(path) === folder && !this.names.has(path)) this.syncedNames.delete(path)
    }
    for (const [path, content] of this.names) if (dirname(path) === folder) this.syncedNames.set(path, content)
  }

  watch(folder: string, hint: () => void): () => void {
    const watcher = { folder, hint }
    this.hints.add(watcher)
    return () => void this.hints.delete(watcher)
  }

  #content(path: string): Content {
    const content = this.names.get(path)
    if (content === undefined) throw Object.assign(new Error(`ENOENT: no such file, '${path}'`), { code: 'ENOENT' })
    return content
  }

  #write(path: string, content: Content, data: Uint8Array, position: number): void {
    try {
      this.#step('write', path)
    } catch (error) {
      // a disk that runs full takes what fits
      if ((error as { code?: string }).code === 'ENOSPC') this.#put(content, data.slice(0, data.length / 2), position)
      throw error
    }
    this.#put(content, data, position)
  }

  #put(content: Content, data: Uint8Array, position: number): void {
    const grown = new Uint8Array(Math.max(content.now.length, position + data.length))
    grown.set(content.now)
    grown.set(data, position)
    content.now = grown
  }

  #hint(path: string): void {
    if (!this.hasHints) return
    for (const { folder, hint } of this.hints) if (dirname(path) === folder) hint()
  }

  #step(what: string, path: string): void {
    const code = this.fault({ n: this.steps++, what, path })
    if (code !== undefined) throw Object.assign(new Error(`${code}: ${what} '${path}'`), { code })
  }
}

function afterPowerLoss({ now, synced }: Content, survives: Survival): Uint8Array {
  if (now === synced) return synced
  const first = Math.max(
    0,
    now.findIndex((byte, at) => byte !== synced[at]),
  )
  const after = new Uint8Array(Math.max(now.length, synced.length))
  after.set(synced)
  let { length } = synced
  for (let at = first; at < now.length; at++) {
    if (!survives(at - first, at)) continue
    after[at] = now[at] as number
    length = Math.max(length, at + 1)
  }
  return after.slice(0, length)
}

/** What a power failure may leave, from nothing to everything. A disk writes sectors in any order. */
export const survivals: Readonly<Record<string, Survival>> = {
  nothing: () => false,
  'half a page': (nth) => nth < 2_048,
  'a few bytes': (nth) => nth < 100,
  'odd sectors': (_, position) => Math.floor(position / sector) % 2 === 1,
  'even sectors': (_, position) => Math.floor(position / sector) % 2 === 0,
  'the second page and what follows': (nth) => nth >= 4_096,
  everything: () => true,
}

let pids = 0

/** A new process among those that are alive. */
export function simulatedProcess(alive: Set<number>): ProcessView {
  const self = { host: 'here', pid: ++pids }
  alive.add(self.pid)
  return { self, liveness: ({ host, pid }) => (host !== 'here' ? 'unknown' : alive.has(pid) ? 'alive' : 'dead') }
}
