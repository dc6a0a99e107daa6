import fc from 'fast-check'
import type { JournalStore, NewRecord, SessionNote } from 'signalbox/durable'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { sha256 } from '../../../src/base/sha256.ts'
import { journalsOn } from '../../../src/node/file-journals/file-journals.ts'
import { livenessOf } from '../../../src/node/file-journals/process-identity.ts'
import { type Fault, SimulatedDisk, simulatedProcess, survivals } from './simulated-disk.ts'

const folder = '/journals'
const log = `${folder}/${sha256('s')}.jsonl`
const isFull = process.env.SIGNALBOX_FULL !== undefined
const sent = (text: unknown): NewRecord => ({ t: 'message.sent', text })
const message = (uuid: string): SessionNote => ({ type: 'message', uuid, content: uuid })

/** A store of a process of its own; every earlier process is dead. */
const alive = new Set<number>()
const storeOn = (disk: SimulatedDisk): JournalStore => {
  alive.clear()
  return journalsOn(disk, simulatedProcess(alive), { folder })
}
const textsIn = async (store: JournalStore): Promise<unknown[]> => {
  const texts: unknown[] = []
  for await (const { t, text } of store.read('s')) if (t === 'message.sent') texts.push(text)
  return texts
}
const codeOf = (promise: Promise<unknown> | undefined): Promise<string> =>
  Promise.resolve(promise).then(
    () => 'no error',
    (error: { code: string }) => error.code,
  )

/** What was promised: flushed records and accepted notes. */
interface Promised {
  readonly texts: unknown[]
  readonly keys: string[]
}

/** Two lives of a session with flushes, a blob and notes, on a disk that may fail at any step. */
async function live(disk: SimulatedDisk): Promise<Promised> {
  const promised: Promised = { texts: [], keys: [] }
  for (const life of ['a', 'b']) {
    const store = storeOn(disk)
    const journal = await store.open('s', { owner: life, mode: 'either' }).catch(() => undefined)
    if (journal === undefined) continue
    let pending: unknown[] = []
    // one value is as large as a blob
    const texts = life === 'a' ? ['1', 'x'.repeat(6_000), '2', 'y'.repeat(260_000)] : ['3', '4']
    for (const text of texts.map((each) => life + each)) {
      journal.append(sent(text))
      pending.push(text)
      if (pending.length % 2 === 0 && (await codeOf(journal.flush())) === 'no error') {
        promised.texts.push(...pending)
        pending = []
      }
      const posted = await store.post('s', message(text.slice(0, 2))).catch(() => 'failed')
      if (posted === 'accepted') promised.keys.push(text.slice(0, 2))
    }
    await journal.close().catch(() => undefined)
  }
  return promised
}

/** What a new process finds, which must be everything that was promised, and nothing that was never appended. */
async function expectKept(disk: SimulatedDisk, { texts, keys }: Promised, where: string): Promise<void> {
  const store = storeOn(disk)
  const journal = await store.open('s', { owner: 'later', mode: 'either' })
  const heard: string[] = []
  journal.onNote((note) => heard.push(note.type === 'answer' ? note.question : note.uuid))
  await Promise.resolve()
  const found = await textsIn(store)
  expect(
    found.filter((text) => texts.includes(text)),
    where,
  ).toEqual(texts)
  expect(heard, where).toEqual(expect.arrayContaining(keys))
  journal.append(sent('later'))
  await journal.close()
  expect((await textsIn(storeOn(disk))).at(-1), where).toBe('later')
}

const stepsOf = async (): Promise<number> => {
  const disk = new SimulatedDisk()
  await live(disk)
  return disk.steps
}

describe('a disk with faults', () => {
  afterEach(() => void vi.useRealTimers())

  it('D9 every prefix of a log opens, at each record and three bytes inside it', async () => {
    const text = fc.oneof(fc.string({ unit: 'binary', maxLength: 40 }), fc.constant('long '.repeat(200)))
    await fc.assert(
      fc.asyncProperty(fc.array(text, { minLength: 1, maxLength: 6 }), async (texts) => {
        const disk = new SimulatedDisk()
        const journal = await storeOn(disk).open('s', { owner: 'a', mode: 'create' })
        for (const each of texts) journal.append(sent(each))
        await journal.close()
        const whole = (await disk.read(log)) as Uint8Array
        for (const { cut, records } of cutsOf(whole)) {
          const after = new SimulatedDisk()
          after.names.set(log, { now: whole.slice(0, cut), synced: whole.slice(0, cut) })
          const store = storeOn(after)
          if (records === 0)
            expect(await codeOf(store.open('s', { owner: 'b', mode: 'resume' }))).toBe('session_not_found')
          const opened = await store.open('s', { owner: 'b', mode: 'either' })
          expect(opened.records.length, `cut at ${cut}`).toBe(records === 0 ? 2 : records + 1)
          opened.append(sent('later'))
          await opened.close()
          expect(await textsIn(store)).toEqual([...texts.slice(0, Math.max(0, records - 2)), 'later'])
        }
      }),
      { numRuns: isFull ? 1_000 : 60 },
    )
  })

  it('D5 D8 D6a power that fails at any step loses nothing that was promised', async () => {
    const steps = await stepsOf()
    expect(steps).toBeGreaterThan(50)
    for (let at = 0; at <= steps; at++) {
      for (const [what, survives] of Object.entries(survivals)) {
        const disk = new SimulatedDisk()
        disk.fault = ({ n }) => (n >= at ? 'EIO' : undefined)
        const promised = await live(disk)
        disk.fault = () => undefined
        disk.losePower(survives)
        await expectKept(disk, promised, `power fails at step ${at}, ${what} survives`)
      }
    }
  })

  it.each<[string, (at: number) => Fault]>([
    [
      'a disk that is full at one step',
      (at) =>
        ({ n, what }) =>
          n === at && /write|create|link|mkdir/.test(what) ? 'ENOSPC' : undefined,
    ],
    [
      'a disk that is full from a step on',
      (at) =>
        ({ n, what }) =>
          n >= at && /write|create|link|mkdir/.test(what) ? 'ENOSPC' : undefined,
    ],
    [
      'an error at one step',
      (at) =>
        ({ n }) =>
          n === at ? 'EIO' : undefined,
    ],
  ])('D19 %s loses nothing that was promised', async (_, faultAt) => {
    const steps = await stepsOf()
    for (let at = 0; at <= steps; at++) {
      const disk = new SimulatedDisk()
      disk.fault = faultAt(at)
      const promised = await live(disk)
      disk.fault = () => undefined
      await expectKept(disk, promised, `fails at step ${at}`)
    }
  })

  it('D19 an error of sync closes the log for good, and its records are not read as durable', async () => {
    const disk = new SimulatedDisk()
    const store = storeOn(disk)
    const journal = await store.open('s', { owner: 'a', mode: 'create' })
    journal.append(sent('kept'))
    await journal.flush()
    disk.fault = ({ what }) => (what === 'sync' ? 'EIO' : undefined)
    journal.append(sent('lost'))
    expect(await codeOf(journal.flush())).toBe('journal_error')
    disk.fault = () => undefined
    journal.append(sent('after'))
    expect(await codeOf(journal.flush())).toBe('journal_error')
    expect(await codeOf(journal.close())).toBe('journal_error')
    expect(await textsIn(store)).toEqual(['kept'])
  })

  it('D19 a folder that cannot be written is journal_error with its path; reading works', async () => {
    const disk = new SimulatedDisk()
    await live(disk)
    const store = journalsOn(disk, simulatedProcess(alive), { folder })
    const idle = await store.open('idle', { owner: 'a', mode: 'create' })
    await idle.close()
    disk.fault = () => 'EROFS'
    await expect(store.open('s', { owner: 'a', mode: 'either' })).rejects.toMatchObject({
      code: 'journal_error',
      message: expect.stringContaining(folder),
    })
    await expect(store.post('s', message('m'))).rejects.toMatchObject({ code: 'journal_error' })
    await expect(store.sweep({ maxAgeMs: 0 })).rejects.toMatchObject({
      code: 'journal_error',
      message: expect.stringContaining(folder),
    })
    expect((await textsIn(store)).length).toBe(6)
    const statuses: string[] = []
    for await (const { status } of store.list()) statuses.push(status)
    expect(statuses.sort()).toEqual(['idle', 'lost'])
  })

  it('D8 one sync at a time; what is appended meanwhile goes with the next', async () => {
    const disk = new SimulatedDisk()
    const journal = await storeOn(disk).open('s', { owner: 'a', mode: 'create' })
    let syncs = 0
    disk.fault = ({ what }) => void (what === 'sync' && syncs++)
    const flushes: (Promise<void> | undefined)[] = []
    for (let n = 0; n < 100; n++) {
      journal.append(sent(n))
      flushes.push(journal.flush())
    }
    await flushes[0]
    expect(syncs).toBe(1)
    await Promise.all(flushes)
    expect([syncs, journal.flush()]).toEqual([1, undefined])
    await journal.close()
  })

  it('D8 records that nobody flushes are written after a while', async () => {
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    const disk = new SimulatedDisk()
    const store = storeOn(disk)
    const journal = await store.open('s', { owner: 'a', mode: 'create' })
    journal.append(sent('lingers'))
    expect(await textsIn(store)).toEqual([])
    await vi.advanceTimersByTimeAsync(100)
    await expect.poll(() => textsIn(store)).toEqual(['lingers'])
    await journal.close()
  })

  it('D6a a note arrives although every hint is lost, without looking more than once a second', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const disk = new SimulatedDisk()
    disk.hasHints = false
    const journal = await storeOn(disk).open('s', { owner: 'a', mode: 'create' })
    const heard: unknown[] = []
    journal.onNote((note) => heard.push(note))
    const list = vi.spyOn(disk, 'list')
    await storeOn(disk).post('s', message('m'))
    list.mockClear()
    await vi.advanceTimersByTimeAsync(1_999)
    expect([heard, list.mock.calls.length]).toEqual([[], 0])
    await vi.advanceTimersByTimeAsync(1)
    expect(heard).toEqual([message('m')])
    expect(list).toHaveBeenCalledTimes(1)
    await journal.close()
  })
})

describe('the lock of a session', () => {
  it('D10 a dead owner is replaced, a living one and one on another host never', async () => {
    const disk = new SimulatedDisk()
    const store = storeOn(disk)
    await store.open('s', { owner: 'a', mode: 'create' })
    await expect(store.open('s', { owner: 'b', mode: 'resume' })).rejects.toMatchObject({
      code: 'session_locked',
      message: 'Session s is already open: a in this process has it. Use that session, or close it first.',
    })
    const next = await storeOn(disk).open('s', { owner: 'b', mode: 'resume' })
    const far = journalsOn(disk, { self: { host: 'far', pid: 1 }, liveness: () => 'unknown' }, { folder })
    await expect(far.open('s', { owner: 'c', mode: 'resume' })).rejects.toMatchObject({
      code: 'session_locked',
      message: expect.stringMatching(/If it is not, remove .*\.1\.lock/),
    })
    await next.close()
    expect([...disk.names.keys()].filter((name) => name.includes('lock'))).toEqual([])
    await (await far.open('s', { owner: 'c', mode: 'resume' })).close()
  })

  /** A process that looks at the locks, then waits until it may take the next number. */
  const slowProcess = (disk: SimulatedDisk) => {
    let go = (): void => undefined
    let arrive = (): void => undefined
    const mayLink = new Promise<void>((resolve) => {
      go = resolve
    })
    const waits = new Promise<void>((resolve) => {
      arrive = resolve
    })
    const link: SimulatedDisk['link'] = async (from, to) => {
      arrive()
      await mayLink
      return disk.link(from, to)
    }
    const slow = new Proxy(disk, {
      get(target, name) {
        const value: unknown = name === 'link' ? link : Reflect.get(target, name, target)
        return typeof value === 'function' ? value.bind(target) : value
      },
    })
    const opened = codeOf(
      journalsOn(slow, simulatedProcess(alive), { folder }).open('s', { owner: 'slow', mode: 'resume' }),
    )
    return { opened, waits, go }
  }
  const join = (disk: SimulatedDisk) => journalsOn(disk, simulatedProcess(alive), { folder })
  const resume = { owner: 'b', mode: 'resume' } as const

  it('D10 a process that saw a dead owner does not replace one that came since', async () => {
    const disk = new SimulatedDisk()
    await storeOn(disk).open('s', { owner: 'dead', mode: 'create' })
    alive.clear()
    const slow = slowProcess(disk)
    await slow.waits
    await (await join(disk).open('s', resume)).close()
    const owner = await join(disk).open('s', resume)
    slow.go()
    expect(await slow.opened).toBe('session_locked')
    owner.append(sent('mine'))
    await owner.close()
  })

  it('D10 a process that saw no owner does not go behind one that replaced another since', async () => {
    const disk = new SimulatedDisk()
    await (await storeOn(disk).open('s', { owner: 'a', mode: 'create' })).close()
    const slow = slowProcess(disk)
    await slow.waits
    const pids = [...alive]
    await join(disk).open('s', resume)
    for (const pid of alive) if (!pids.includes(pid)) alive.delete(pid)
    const owner = await join(disk).open('s', resume)
    slow.go()
    expect(await slow.opened).toBe('session_locked')
    owner.append(sent('mine'))
    await owner.close()
  })

  it.each([
    ['the same process', {}, true, 'alive'],
    ['another process that is there', { pid: 2 }, true, 'alive'],
    ['one that is gone', { pid: 2 }, false, 'dead'],
    ['one whose id another process has now', { pid: 2, start: '9' }, true, 'dead'],
    ['one from before the machine started again', { boot: 'earlier' }, true, 'dead'],
    ['one on another host', { host: 'far' }, false, 'unknown'],
    ['one in another container', { namespace: 'other' }, false, 'unknown'],
    ['one whose id may have been used again', { pid: 2, start: undefined }, true, 'unknown'],
  ] as const)('D10 tells %s', (_, other, isThere, expected) => {
    const self = { host: 'here', boot: 'now', namespace: 'ours', pid: 1, start: '5' }
    const look = { isThere: () => isThere, processStat: () => ({ start: '5', isOver: false }) }
    expect(livenessOf(self, { ...self, ...other }, look)).toBe(expected)
    const zombie = { isThere: () => true, processStat: () => ({ start: '5', isOver: true }) }
    expect(livenessOf(self, self, zombie)).toBe('dead')
  })
})

/** The end of each record, and three places inside it, with the number of whole records up to there. */
function* cutsOf(log: Uint8Array): Generator<{ cut: number; records: number }> {
  let start = 0
  for (let records = 0; start < log.length; records++) {
    const end = log.indexOf(10, start)
    for (const cut of [start, start + 1, Math.floor((start + end) / 2), end]) yield { cut, records }
    start = end + 1
  }
}
