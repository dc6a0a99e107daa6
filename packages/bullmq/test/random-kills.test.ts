import { redisJournals, sessionQueue } from '@signalbox/bullmq'
import { foldJournal, type JournalRecord, type JournalStore } from 'signalbox/durable'
import { describe, expect, it } from 'vitest'
import { effectsFile } from '../../../test/remote/effects-file.ts'
import { findRedis, RedisServer } from './redis-server.ts'
import { buildWorker, WorkerProcess } from './worker-process.ts'

const isThere = findRedis() !== undefined
const { SIGNALBOX_FULL, SIGNALBOX_SESSIONS, SIGNALBOX_SEED = '1' } = process.env
const sessions = Number(SIGNALBOX_SESSIONS ?? (SIGNALBOX_FULL === '1' ? 1_000 : 30))
const patient = { timeout: 120_000, interval: 100 }

/** Each process is replaced when it is killed. */
class Fleet {
  readonly members: WorkerProcess[] = []
  kills = 0
  readonly #start: (n: number) => WorkerProcess
  #started = 0

  constructor(size: number, start: (n: number) => WorkerProcess) {
    this.#start = start
    for (let n = 0; n < size; n++) this.members.push(start(this.#started++))
  }

  async ready(): Promise<void> {
    await Promise.all(this.members.map(({ ready }) => ready))
  }

  /** Only one that is at work: a process that still starts would just start again. */
  async kill(place: number): Promise<void> {
    const member = this.members[place % this.members.length] as WorkerProcess
    await member.ready
    this.members[place % this.members.length] = this.#start(this.#started++)
    this.kills++
    await member.end()
  }

  async end(): Promise<void> {
    await Promise.all(this.members.map((member) => member.end()))
  }
}

describe.skipIf(!isThere && process.env.CI !== 'true')('kill -9 of workers and orchestrators at random', () => {
  it(`D4 D11 D20 R3 R7 R10 ${sessions} sessions end, no body with effects begins twice, every unknown outcome is said`, async () => {
    const random = randomBy(Number(SIGNALBOX_SEED))
    const effects = effectsFile()
    const [server, programs] = await Promise.all([RedisServer.start(), buildWorker()])
    const engine = { connection: server.url, prefix: 'kills' }
    const journals = redisJournals({ ...engine, onWarning: () => undefined })
    const queue = sessionQueue({ ...engine, journals, onWarning: () => undefined })
    const times = { lockMs: 1_000, checkMs: 300 }
    const orchestrators = new Fleet(
      2,
      (n) =>
        new WorkerProcess(programs.orchestrator, {
          ...{ ...engine, ...times, name: `orchestrator ${n}`, concurrency: 16 },
          ...{ isRemote: true, file: effects.file, ms: 60 },
        }),
    )
    const workers = new Fleet(
      2,
      () =>
        new WorkerProcess(programs.path, {
          ...engine,
          ...times,
          tools: programs.payTool,
          concurrency: sessions < 100 ? 2 : 4,
        }),
    )
    try {
      await Promise.all([orchestrators.ready(), workers.ready()])
      const ids = Array.from({ length: sessions }, (_, n) => `s${n}`)
      const isBusy = async () => {
        const { waiting, running } = await queue.depth()
        return waiting + running > 0
      }
      // a few at a time, so that every kill meets work
      for (let first = 0; first < sessions; first += 10) {
        await Promise.all(ids.slice(first, first + 10).map((id) => queue.send(id, `pay ${id}a ${id}b`)))
        await new Promise((resolve) => setTimeout(resolve, 300 + 700 * random()))
        await (random() < 0.5 ? orchestrators : workers).kill(Math.floor(2 * random()))
      }
      expect(orchestrators.kills + workers.kills).toBe(Math.ceil(sessions / 10))
      await expect.poll(isBusy, { ...patient, timeout: 120_000 + 1_000 * sessions }).toBe(false)
      const lines = await effects.lines()
      const tally = { did: 0, unknown: 0, notRun: 0 }
      for (const id of ids) expect((await problemsOf(journals, id, lines, tally)).join(', '), id).toBe('')
      console.info(
        `${sessions} sessions, ${orchestrators.kills} orchestrators and ${workers.kills} workers killed: ${JSON.stringify(tally)}`,
      )
      expect(tally.did).toBeGreaterThan(sessions)
    } finally {
      await Promise.all([orchestrators.end(), workers.end()])
      await queue.end()
      await journals.end()
      await server.end()
      programs.remove()
      effects.remove()
    }
  }, 7_200_000)
})

/** Compares what the log says with what the bodies wrote themselves. */
async function problemsOf(
  journals: JournalStore,
  id: string,
  lines: readonly string[],
  tally: { did: number; unknown: number; notRun: number },
): Promise<string[]> {
  const records: JournalRecord[] = []
  for await (const record of journals.read(id)) records.push(record)
  const { status, reason, transcript } = foldJournal(records)
  const problems = status === 'idle' && reason === 'completed' ? [] : [`it is ${status} ${reason}`]
  const results = new Map<string, string>()
  for (const { type, message } of transcript as readonly { type: string; message: { content: unknown } }[]) {
    if (type !== 'user' || !Array.isArray(message.content)) continue
    for (const block of message.content) {
      if (block.type !== 'tool_result') continue
      if (results.has(block.tool_use_id)) problems.push(`${block.tool_use_id} has two results`)
      results.set(block.tool_use_id, JSON.stringify(block.content))
    }
  }
  for (const key of [`${id}a`, `${id}b`]) {
    const begun = lines.filter((line) => line.startsWith(`began ${key} `)).length
    const isDone = lines.includes(`did ${key}`)
    const result = results.get(`call_${key}`) ?? 'none'
    if (begun > 1) problems.push(`${key} began ${begun} times`)
    if (result.includes(`did ${key}`)) {
      tally.did++
      if (!isDone) problems.push(`${key} has a result that never was`)
    } else if (result.includes('may or may not have taken effect')) tally.unknown++
    else if (result.includes('did not run')) {
      tally.notRun++
      if (begun > 0) problems.push(`${key} began, and is said not to have run`)
    } else problems.push(`${key} has the result ${result}`)
  }
  return problems
}

function randomBy(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return (state >>> 8) / 2 ** 24
  }
}
