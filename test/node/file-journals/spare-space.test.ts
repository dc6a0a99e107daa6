import { appendFile, copyFile, mkdir, mkdtemp, readdir, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import type { JournalRecord, JournalStore } from 'signalbox/durable'
import { fileJournals } from 'signalbox/node'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '../../../src/base/sha256.ts'
import { journalsOn } from '../../../src/node/file-journals/file-journals.ts'
import { slowCrc32 } from '../../../src/node/file-journals/log-lines.ts'
import { SimulatedDisk, simulatedProcess, survivals } from './simulated-disk.ts'

const isFull = process.env.SIGNALBOX_FULL !== undefined
const name = `${sha256('s')}.jsonl`
const path = `/journals/${name}`
const sector = 512
const step = 16_384

const storeOn = (disk: SimulatedDisk): JournalStore =>
  journalsOn(disk, simulatedProcess(new Set()), { folder: '/journals' })

const create = { owner: 'a', mode: 'create' } as const
const resume = { owner: 'b', mode: 'resume' } as const

const codeOf = (promise: Promise<unknown> | undefined): Promise<string> =>
  Promise.resolve(promise).then(
    () => 'no error',
    (error: { code: string }) => error.code,
  )

async function textsOf(records: AsyncIterable<JournalRecord> | readonly JournalRecord[]): Promise<unknown[]> {
  const texts: unknown[] = []
  for await (const { t, text } of records) if (t === 'message.sent') texts.push(text)
  return texts
}

/** Reads a log as docs/journals.md describes it, without a line of the store: what a program of another language would do. */
function recordsIn(data: Uint8Array): { t: string; text?: string }[] | 'damaged' {
  const records: { n: number; c?: number; t: string; text?: string }[] = []
  const lines = Buffer.from(data).toString('latin1').split('\n')
  // an unfinished line, or spare space
  lines.pop()
  let crc: number | undefined
  for (const [n, line] of lines.entries()) {
    if (line.includes('\0')) return lines.slice(n + 1).some((later) => later.startsWith(' ')) ? 'damaged' : records
    const record = JSON.parse(Buffer.from(line, 'latin1').toString())
    if (record.n !== n || (crc !== undefined && record.c !== crc)) return 'damaged'
    crc = slowCrc32(Buffer.from(line, 'latin1'))
    records.push(record)
  }
  return records
}

/** Where the commits of a log begin. */
const commitsIn = (data: Uint8Array): number[] =>
  [...data.entries()].flatMap(([at, byte]) => (byte === 32 && (at === 0 || data[at - 1] === 10) ? at : []))

const contentOf = async (disk: SimulatedDisk): Promise<Uint8Array> => (await disk.read(path)) as Uint8Array

function diskWith(data: Uint8Array): SimulatedDisk {
  const disk = new SimulatedDisk()
  disk.folders.add('/journals')
  disk.names.set(path, { now: data, synced: data })
  disk.syncedNames = new Map(disk.names)
  return disk
}

/** Commits of records with texts of these lengths. Returns the texts, and those that are durable. */
async function write(disk: SimulatedDisk, commits: readonly (readonly number[])[], label: string) {
  const [texts, durable]: [string[], string[]] = [[], []]
  const opened = await storeOn(disk)
    .open('s', { owner: label, mode: 'either' })
    .catch(() => undefined)
  if (opened === undefined) return { texts, durable, close: async () => undefined }
  for (const [at, lengths] of commits.entries()) {
    for (const [index, length] of lengths.entries()) {
      const text = `${label}${at}.${index} `.padEnd(length, 'ü')
      opened.append({ t: 'message.sent', text })
      texts.push(text)
    }
    if ((await codeOf(opened.flush())) !== 'no error') break
    durable.push(...texts.slice(durable.length))
  }
  return { texts, durable, close: () => opened.close().catch(() => undefined) }
}

const someCommits = fc.array(
  fc.array(fc.oneof(fc.nat(60), fc.nat(1_500), fc.integer({ min: 6_000, max: 20_000 })), {
    minLength: 1,
    maxLength: 4,
  }),
  { minLength: 1, maxLength: 8 },
)

describe('spare space behind the lines of a log', () => {
  it('D5 D9 whatever sectors of a commit power leaves, in any order: what was flushed is there, and nothing else but what was appended', async () => {
    const sectors = fc.infiniteStream(fc.boolean())
    const lives = fc.array(fc.record({ commits: someCommits, at: fc.nat(60) }), { minLength: 1, maxLength: 3 })
    const property = fc.asyncProperty(lives, sectors, async (plan, stream) => {
      const kept = new Map<number, boolean>()
      const survives = (_: number, position: number): boolean => {
        const at = Math.floor(position / sector)
        if (!kept.has(at)) kept.set(at, stream.next().value)
        return kept.get(at) as boolean
      }
      const disk = new SimulatedDisk()
      await (await storeOn(disk).open('s', create)).close()
      let expected: string[] = []
      for (const [life, { commits, at }] of plan.entries()) {
        const end = disk.steps + at
        disk.fault = ({ n }) => (n >= end ? 'EIO' : undefined)
        const { texts, durable } = await write(disk, commits, `life${life}.`)
        disk.fault = () => undefined
        kept.clear()
        disk.losePower(survives)
        for (const file of disk.names.keys()) if (file.endsWith('.lock')) disk.names.delete(file)
        const outside = recordsIn(await contentOf(disk))
        const found = await textsOf(storeOn(disk).read('s'))
        expect(outside).not.toBe('damaged')
        expect(await textsOf(outside as never)).toEqual(found)
        const newer = found.slice(expected.length)
        expect(found.slice(0, expected.length)).toEqual(expected)
        expect(newer).toEqual(texts.slice(0, newer.length))
        expect(newer.length).toBeGreaterThanOrEqual(durable.length)
        expected = found as string[]
      }
      const last = await storeOn(disk).open('s', resume)
      last.append({ t: 'message.sent', text: 'later' })
      await last.close()
      const whole = await contentOf(disk)
      expect(whole.includes(0)).toBe(false)
      expect(await textsOf(recordsIn(whole) as never)).toEqual([...expected, 'later'])
    })
    await fc.assert(property, { numRuns: isFull ? 2_000 : 150, ...(isFull ? {} : { seed: 1 }) })
  })

  it('D9 a sector that is lost where later commits tell that it was durable is journal_corrupt, and nothing is written', async () => {
    const disk = new SimulatedDisk()
    await write(disk, [[10, 900], [3_000, 20, 20], [100], [7_000, 40]], 'a')
    const whole = await contentOf(disk)
    const lastCommit = commitsIn(whole).at(-1) as number
    let damaged = 0
    for (let at = 0; at + sector <= lastCommit; at += sector) {
      const data = whole.slice()
      data.fill(0, at, at + sector)
      const after = diskWith(data)
      expect(await codeOf(storeOn(after).open('s', resume)), `sector at ${at}`).toBe('journal_corrupt')
      await expect(storeOn(after).read('s')[Symbol.asyncIterator]().next()).rejects.toThrow(/record \d+ \(byte \d+\)/)
      expect(await contentOf(after)).toEqual(data)
      expect(recordsIn(data)).toBe('damaged')
      damaged++
    }
    expect(damaged).toBeGreaterThan(5)
  })

  it('D9 D22 in a log without marks, only a torn last line is cut off', async () => {
    const disk = new SimulatedDisk()
    const { close } = await write(disk, [[900], [900, 900], [900]], 'a')
    await close()
    // as an early version wrote it: the same without marks, and with the checksums of such lines
    let crc: number | undefined
    const lines = Buffer.from(await contentOf(disk))
      .toString()
      .trimEnd()
      .split('\n')
      .map((line) => {
        const { n, at, c: _, ...fields } = JSON.parse(line)
        const plain = JSON.stringify({ n, at, ...(crc !== undefined && { c: crc }), ...fields })
        crc = slowCrc32(plain)
        return `${plain}\n`
      })
    const old = Buffer.from(lines.join(''))
    const starts = lines.map((_, n) => Buffer.byteLength(lines.slice(0, n).join('')))
    expect((await storeOn(diskWith(old)).open('s', resume)).records).toHaveLength(lines.length + 1)
    for (const [n, start] of starts.entries()) {
      const data = Buffer.from(old)
      data.fill(0, start + 40, start + 60)
      const isLast = n === lines.length - 1
      expect(await codeOf(storeOn(diskWith(data)).open('s', resume)), `line ${n}`).toBe(
        isLast ? 'no error' : 'journal_corrupt',
      )
    }
  })

  it('D9 a log whose first commit lost any sectors was never created, and its remains do not come back', async () => {
    // a session that was forked has its conversation in the first record
    const forked = { owner: 'a', mode: 'either', created: { messages: 'ü'.repeat(900) } } as const
    const first = new SimulatedDisk()
    await storeOn(first).open('s', forked)
    const whole = await contentOf(first)
    const sectors = Math.ceil(whole.length / sector)
    for (let lost = 1; lost < 2 ** sectors; lost++) {
      const data = whole.map((byte, at) => ((lost >> Math.floor(at / sector)) & 1 ? 0 : byte))
      const found = recordsIn(data).length
      const opened = await storeOn(diskWith(data)).open('s', forked)
      expect(opened.records, `lost ${lost.toString(2)}`).toHaveLength(Math.max(found, 1) + 1)
      for (const [name, survives] of Object.entries(survivals)) {
        // power fails again before the new first commit is durable
        const disk = diskWith(data)
        let isWritten = false
        disk.fault = ({ what, path: at }) => {
          isWritten ||= what === 'write' && at === path
          return isWritten && what !== 'write' ? 'EIO' : undefined
        }
        expect(await codeOf(storeOn(disk).open('s', forked))).toBe('journal_error')
        disk.fault = () => undefined
        disk.losePower(survives)
        expect(await codeOf(storeOn(disk).open('s', forked)), `lost ${lost.toString(2)}, then ${name}`).toBe('no error')
      }
    }
    expect(sectors).toBe(4)
  })

  it('D9 a log whose process was killed opens at any byte of its last commit', async () => {
    const disk = new SimulatedDisk()
    const { durable } = await write(disk, [[900], [40], [300, 40, 600]], 'a')
    const whole = await contentOf(disk)
    expect(whole.length % step).toBe(0)
    const from = commitsIn(whole).at(-1) as number
    const end = whole.indexOf(0, from)
    for (let cut = from; cut <= end; cut++) {
      const data = whole.slice()
      data.fill(0, cut, end)
      const journal = await storeOn(diskWith(data)).open('s', resume)
      const texts = await textsOf(journal.records)
      expect(texts).toEqual(durable.slice(0, texts.length))
      expect(texts.length).toBeGreaterThanOrEqual(cut === end ? durable.length : 2)
    }
  })

  it('D9 a reader that meets old and new parts of a log that is being written reads it again', async () => {
    const disk = new SimulatedDisk()
    const first = await storeOn(disk).open('s', create)
    const send = async (text: string) => {
      first.append({ t: 'message.sent', text })
      await first.flush()
    }
    await send('one')
    await send('two')
    const before = await contentOf(disk)
    for (const text of ['three '.repeat(200), 'four', 'five']) await send(text)
    const after = await contentOf(disk)
    // the first sector is read before the three are written, the rest after it
    const mixed = after.slice()
    const seen = before.indexOf(0) + 100
    mixed.set(before.slice(0, seen))
    expect(recordsIn(mixed)).toBe('damaged')
    const store = storeOn(disk)
    disk.read = async () => {
      disk.read = async () => after.slice()
      return mixed
    }
    expect(await textsOf(store.read('s'))).toHaveLength(5)
  })

  it('D19 a disk that has no room for spare space is not full', async () => {
    const disk = new SimulatedDisk()
    let isWritten = false
    disk.fault = ({ what, path: at }) => {
      const isSecond = isWritten && what === 'write'
      if (at === path) isWritten = what === 'write'
      return isSecond && at === path ? 'ENOSPC' : undefined
    }
    const { texts, durable, close } = await write(disk, [[10], [20], [30_000], [40]], 'a')
    expect(durable).toEqual(texts)
    expect((await contentOf(disk)).includes(0)).toBe(false)
    await close()
    expect(await textsOf(storeOn(disk).read('s'))).toEqual(texts)
  })

  it.each(
    Object.entries(survivals),
  )('D10 power that fails while the next owner opens, and %s survives, costs nothing', async (_, survives) => {
    for (let at = 0; at < 12; at++) {
      const disk = new SimulatedDisk()
      const { durable } = await write(disk, [[900], [400], [5_000]], 'a')
      // a process that was killed between a write and its sync
      const content = disk.names.get(path) as { now: Uint8Array; synced: Uint8Array }
      const last = commitsIn(content.now).at(-1) as number
      content.synced = content.now.map((byte, position) => (position < last ? byte : 0))
      const end = disk.steps + at
      disk.fault = ({ n }) => (n >= end ? 'EIO' : undefined)
      await codeOf(storeOn(disk).open('s', resume))
      disk.fault = () => undefined
      disk.losePower(survives)
      const found = await textsOf((await storeOn(disk).open('s', resume)).records)
      expect(found.slice(0, 2)).toEqual(durable.slice(0, 2))
    }
  })
})

describe('the files of sessions that are open', () => {
  let folder: string
  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'signalbox-spare-'))
  })
  afterEach(() => rm(folder, { recursive: true, force: true }))

  const send = async (
    journal: { append(record: { t: string; text: string }): void; flush(): unknown },
    text: string,
  ) => {
    journal.append({ t: 'message.sent', text })
    await journal.flush()
  }

  it('D9 a log has spare space while it is open and none afterwards; a copy of it opens', async () => {
    const store = fileJournals({ folder })
    const log = join(folder, name)
    const journal = await store.open('s', create)
    expect((await readFile(log)).includes(0)).toBe(false)
    for (const text of ['one', 'two', 'x'.repeat(20_000)]) {
      await send(journal, text)
      expect((await stat(log)).size % step).toBe(0)
    }
    const other = join(folder, 'other')
    await mkdir(other)
    await copyFile(log, join(other, name))
    const copied = await fileJournals({ folder: other }).open('s', resume)
    expect(await textsOf(copied.records)).toHaveLength(3)
    await copied.close()
    await journal.close()
    const whole = await readFile(log)
    expect(whole.includes(0)).toBe(false)
    expect(recordsIn(whole)).toHaveLength(5)
    expect(recordsIn(await readFile(join(other, name)))).toHaveLength(6)
  })

  it('D9 a log behind whose spare space somebody has written is not made longer', async () => {
    const log = join(folder, name)
    const journal = await fileJournals({ folder }).open('s', create)
    for (const text of ['one', 'two']) await send(journal, text)
    await appendFile(log, 'other\n')
    journal.append({ t: 'message.sent', text: 'x'.repeat(step) })
    expect(await codeOf(journal.flush())).toBe('session_fenced')
    await journal.close().catch(() => undefined)
    expect((await readFile(log, 'utf8')).endsWith('\0other\n')).toBe(true)
  })

  it('D10 an owner whose lock a person has removed writes nothing more, whatever the size of the file', async () => {
    const store = fileJournals({ folder })
    const log = join(folder, name)
    const first = await store.open('s', create)
    for (const text of ['one', 'two', 'three']) await send(first, text)
    const { size } = await stat(log)
    for (const file of await readdir(folder)) if (file.endsWith('.lock')) await rm(join(folder, file))
    const second = await store.open('s', { owner: 'second', mode: 'resume' })
    for (const text of ['four', 'five']) await send(second, text)
    expect((await stat(log)).size).toBe(size)
    first.append({ t: 'message.sent', text: 'lost' })
    expect(await codeOf(first.flush())).toBe('session_fenced')
    expect(await codeOf(first.close())).toBe('session_fenced')
    await send(second, 'six')
    await second.close()
    expect(await textsOf(store.read('s'))).toEqual(['one', 'two', 'three', 'four', 'five', 'six'])
  })
})
