import { randomUUID } from 'node:crypto'
import {
  type BullRunner,
  bullRunner,
  type EngineWarning,
  redisJournals,
  serveSessions,
  serveTools,
  sessionQueue,
} from '@signalbox/bullmq'
import { allowAllTools, type Tool } from 'signalbox'
import { memoryJournals, openSession } from 'signalbox/durable'
import { type RemoteCall, remote, remoteToolOf } from 'signalbox/remote'
import { scriptedModel } from 'signalbox/scripted'
import { describeToolRunner } from 'signalbox/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { effectsFile } from '../../../test/remote/effects-file.ts'
import { parentOf } from './parent-of.ts'
import { findRedis, RedisServer } from './redis-server.ts'
import { buildWorker, WorkerProcess } from './worker-process.ts'

const isThere = findRedis() !== undefined
if (!isThere && process.env.CI !== 'true') console.warn('Tests of @signalbox/bullmq are skipped: Redis was not found.')

/** For the tests of faults: it begins, and then returns, waits, or counts. */
const source = `
import { appendFileSync } from 'node:fs'
const inputSchema = { toJSONSchema: () => ({ properties: {} }), safeParseAsync: async (data) => ({ success: true, data }) }
export const far = {
  name: 'Far',
  inputSchema,
  async call({ file, name, ms, size, blocks, isDeaf, reports = 0 }, { abortController: { signal } }, _can, _message, onProgress) {
    appendFileSync(file, name + ' ' + process.pid + '\\n')
    onProgress({ data: 'began' })
    for (let n = 1; n <= reports; n++) {
      // the latest of a tenth of a second wins
      await new Promise((resolve) => setTimeout(resolve, 110))
      onProgress({ data: 'report ' + n })
    }
    if (size) return { data: 'x'.repeat(size) }
    if (blocks) {
      // the first report leaves, and then nothing does
      await new Promise((resolve) => setTimeout(resolve, 100))
      for (const until = performance.now() + blocks; performance.now() < until; );
    }
    if (isDeaf) await new Promise((resolve) => setTimeout(resolve, isDeaf))
    await new Promise((resolve) => {
      const timer = setTimeout(resolve, ms ?? 0)
      signal.addEventListener('abort', () => (clearTimeout(timer), resolve()))
    })
    return { data: signal.aborted ? 'stopped' : 'finished' }
  },
}`
const tools = `data:text/javascript,${encodeURIComponent(source)}`
const far: Tool = {
  name: 'Far',
  inputSchema: z.looseObject({}),
  inputJSONSchema: { properties: {}, type: 'object' },
  call: async () => {
    throw new Error('the body must not run here')
  },
}
const wanted = remoteToolOf(far)

describe.skipIf(!isThere && process.env.CI !== 'true')('through BullMQ and a real Redis', () => {
  let server: RedisServer
  let program: Awaited<ReturnType<typeof buildWorker>>
  const effects = effectsFile()
  /** Those without a label of their own. */
  let workers: WorkerProcess[] = []
  const started: WorkerProcess[] = []
  const hosts: BullRunner[] = []
  const warnings: EngineWarning[] = []
  beforeAll(async () => {
    ;[server, program] = await Promise.all([RedisServer.start(), buildWorker()])
  })
  afterEach(async () => void (await Promise.all(hosts.splice(0).map((host) => host.end()))))
  afterAll(async () => {
    await Promise.all(started.map((worker) => worker.end()))
    program?.remove()
    await server?.end()
    effects.remove()
  })

  const startWorker = (change: object = {}): WorkerProcess => {
    const options = { connection: server.url, tools, concurrency: 1, lockMs: 1_500, checkMs: 500, ...change }
    const worker = new WorkerProcess(program.path, { storeFolder: effects.folder, ...options })
    started.push(worker)
    return worker
  }
  /** Two workers with one place each; those that are gone are replaced. */
  const haveWorkers = async (change: object = {}): Promise<void> => {
    workers = workers.filter(({ isGone }) => !isGone)
    while (workers.length < 2) workers.push(startWorker(change))
    await Promise.all(workers.map(({ ready }) => ready))
  }
  const host = (change: object = {}): BullRunner => {
    const onWarning = (warning: EngineWarning) => void warnings.push(warning)
    const made = bullRunner({ connection: server.url, lookMs: 200, onWarning, ...change })
    hosts.push(made)
    return made
  }
  const workerOf = async (): Promise<{ worker: WorkerProcess | undefined; body: number }> => {
    const body = Number((await effects.lines()).at(-1)?.split(' ')[1])
    const parent = parentOf(body)
    return { worker: workers.find(({ process: { pid } }) => pid === parent), body }
  }

  describe('the suite', () => {
    afterAll(async () => void (await Promise.all(workers.splice(0).map((worker) => worker.end()))))
    describeToolRunner(
      async (suiteTools) => {
        const own = effectsFile()
        await haveWorkers({ tools: suiteTools, prefix: 'suite' })
        const lines = async () => [...(await own.lines())]
        return {
          runner: host({ prefix: 'suite' }),
          effects: { file: own.file, lines },
          anotherHost: () => host({ prefix: 'suite' }),
          async killWorker() {
            const parent = parentOf(Number((await lines()).at(-1)?.split(' ')[1]))
            await workers.find(({ process: { pid } }) => pid === parent)?.end()
          },
          async restartEngine() {
            await server.crash()
            await server.run()
          },
          async dropEvents() {
            await server.ask(async (redis) => {
              await redis.call('ACL', 'SETUSER', 'default', '-xread', '-publish')
              // a read that waits would still get its answer
              await redis.call('CLIENT', 'KILL', 'TYPE', 'normal', 'SKIPME', 'yes')
            })
          },
          async removeWorkers() {
            await Promise.all(workers.map((each) => each.end()))
            return host({ prefix: 'suite', pickupMs: 300 })
          },
          forgetJobs: () => server.ask(async (redis) => void (await redis.flushall())),
          async end() {
            await Promise.all(hosts.splice(0).map((each) => each.end()))
            await server.ask((redis) => redis.call('ACL', 'SETUSER', 'default', '+@all'))
            own.remove()
          },
        }
      },
      { describe, it },
    )
  })

  /** Sends a call, and tells how it ended. */
  const send = (runner: BullRunner, input: object = {}, change: Partial<RemoteCall> = {}) => {
    const key = randomUUID()
    const stop = new AbortController()
    let begin: () => void = () => undefined
    const began = new Promise<void>((resolve) => {
      begin = resolve
    })
    const places: unknown[] = []
    const told = runner
      .call({
        key,
        tool: wanted,
        toolUseID: 'c',
        input: { file: effects.file, name: key, ...input },
        context: {},
        again: false,
        attach: false,
        abortGraceMs: 10_000,
        timeoutMs: undefined,
        signal: stop.signal,
        onProgress: () => begin(),
        onPlace: (place) => void places.push(place),
        ...change,
      })
      .then(
        ({ data }) => data,
        (error: Error) => (/Unknown|DidNot/.test(error.name) ? error.name : error.message),
      )
    const begun = async () => (await effects.lines()).filter((line) => line.startsWith(key)).length
    return { told, began, begun, places, abort: () => stop.abort('enough') }
  }

  it('R7 kill -9 of a worker ends its bodies too; the call has an unknown outcome', async () => {
    await haveWorkers()
    const call = send(host(), { ms: 600_000 })
    await call.began
    const { worker, body } = await workerOf()
    await worker?.end()
    expect([await call.told, await call.begun()]).toEqual(['UnknownOutcomeError', 1])
    await expect.poll(() => isAlive(body)).toBe(false)
  })

  it('R7 the last worker is lost: the host notices by itself', async () => {
    const call = send(host({ label: 'lonely' }), { ms: 600_000 })
    const lonely = startWorker({ labels: ['lonely'], name: 'lonely-1' })
    await call.began
    await expect.poll(() => call.places).toContainEqual({ place: 'remote', worker: 'lonely-1' })
    await lonely.end()
    expect([await call.told, await call.begun()]).toEqual(['UnknownOutcomeError', 1])
    // the inspector shows it as lost
    expect(call.places.at(-1)).toEqual({ place: 'lost', worker: 'lonely-1' })
  })

  it('R3 R7 SIGSTOP of a worker for longer than its lock: the body never runs twice', async () => {
    await haveWorkers()
    const call = send(host(), { ms: 100 })
    await call.began
    const { worker } = await workerOf()
    worker?.process.kill('SIGSTOP')
    const told = await Promise.race([call.told, call.told])
    worker?.process.kill('SIGCONT')
    // it may have ended just before it was stopped
    expect(['UnknownOutcomeError', 'finished']).toContain(told)
    expect(await call.begun()).toBe(1)
    expect(await send(host()).told).toBe('finished')
  })

  it('R7 SIGSTOP of the only worker: it runs its read-only call once more, to the end', async () => {
    const label = 'stopped'
    const worker = startWorker({ labels: [label], concurrency: 2 })
    // the first body ends while the second runs
    const call = send(host({ label }), { ms: 6_000 }, { again: true })
    await call.began
    worker.process.kill('SIGSTOP')
    await expect.poll(() => server.ask((redis) => redis.keys(`signalbox:tools-${label}:*:lock`))).toEqual([])
    worker.process.kill('SIGCONT')
    expect([await call.told, await call.begun()]).toEqual(['finished', 2])
    await worker.end()
  })

  it.each([
    [true, 'and the worker is told'],
    [false, 'and no message arrives: the marker is enough'],
  ])('R5 a call that is stopped between pick-up and start does not run (%s)', async (hasMessages) => {
    const label = `loading-${hasMessages}`
    // the process of the second body takes two seconds to load its tools
    const slow = `data:text/javascript,${encodeURIComponent(`${source}\nawait new Promise((resolve) => setTimeout(resolve, 2_000))`)}`
    const worker = startWorker({ labels: [label], tools: slow, concurrency: 2, lockMs: 10_000 })
    const runner = host({ label })
    const first = send(runner, { ms: 600_000 })
    await first.began
    const second = send(runner)
    await expect.poll(() => second.places).toContainEqual(expect.objectContaining({ place: 'remote' }))
    if (!hasMessages) await server.ask((redis) => redis.call('ACL', 'SETUSER', 'default', '-publish'))
    try {
      second.abort()
      expect([await second.told, await second.begun()]).toEqual(['DidNotRunError', 0])
    } finally {
      await server.ask((redis) => redis.call('ACL', 'SETUSER', 'default', '+@all'))
    }
    first.abort()
    expect(await first.told).toBe('stopped')
    await worker.end()
  })

  it('R9 Redis is away when the call runs out of time: its outcome is unknown', async () => {
    await haveWorkers()
    const call = send(host(), { ms: 600_000 }, { abortGraceMs: 10 })
    await call.began
    await server.crash()
    try {
      call.abort()
      expect(await call.told).toBe('UnknownOutcomeError')
    } finally {
      await server.run()
    }
    expect(warnings.map(({ code }) => code)).toContain('engine_error')
  })

  it('D21 workers whose clocks are an hour ahead or behind run, report and stop calls', async () => {
    for (const [label, skewMs] of [
      ['ahead', 3_600_000],
      ['behind', -3_600_000],
    ] as const) {
      const worker = startWorker({ labels: [label], skewMs })
      const runner = host({ label })
      expect(await send(runner).told).toBe('finished')
      const long = send(runner, { ms: 600_000 })
      await long.began
      long.abort()
      expect(await long.told).toBe('stopped')
      await worker.end()
    }
  })

  it('R6 a label decides who takes a call; depth tells how many wait', async () => {
    await haveWorkers()
    const runner = host({ label: 'gpu' })
    const call = send(runner)
    await expect.poll(() => runner.depth()).toEqual({ waiting: 1, running: 0 })
    await expect.poll(() => call.places).toEqual([{ place: 'sent' }, { place: 'sent', waiting: 1 }])
    const gpu = startWorker({ labels: ['cpu', 'gpu'], name: 'gpu-1' })
    expect(await call.told).toBe('finished')
    expect(call.places.slice(2)).toEqual([{ place: 'remote', worker: 'gpu-1' }])
    await gpu.end()
  })

  it.each([
    Number.POSITIVE_INFINITY,
    40 * 24 * 60 * 60 * 1_000,
  ])('R6 with pickupMs: %d a call waits for a worker, however late it comes', async (pickupMs) => {
    const label = `late-${pickupMs}`
    const call = send(host({ label, pickupMs }))
    await expect.poll(() => call.places).toContainEqual({ place: 'sent', waiting: 1 })
    const worker = startWorker({ labels: [label] })
    expect(await call.told).toBe('finished')
    await worker.end()
  })

  it('with an infinite drainMs a worker ends after its bodies', async () => {
    const label = 'patient'
    const options = { connection: server.url, tools, labels: [label], handleSignals: false }
    const served = await serveTools({ ...options, drainMs: Number.POSITIVE_INFINITY, onWarning: () => undefined })
    const call = send(host({ label }), { ms: 500 })
    await call.began
    expect(await served.close()).toEqual({ killed: 0 })
    expect(await call.told).toBe('finished')
  })

  it('R8 R12 Redis forgets a read-only call: its second run is told, from its place to its progress', async () => {
    const label = 'forgotten'
    const seen: unknown[] = []
    const change = {
      again: true,
      onProgress: (data: unknown) => void seen.push(data),
      onPlace: (place: unknown) => void seen.push(place),
    }
    const first = startWorker({ labels: [label], name: 'one' })
    const call = send(host({ label }), { reports: 3, ms: 600_000 }, change)
    await expect.poll(() => seen).toContain('report 3')
    await first.end()
    await server.ask((redis) => redis.flushall())
    seen.length = 0
    const second = startWorker({ labels: [label], name: 'one' })
    await expect.poll(() => seen).toContain('report 3')
    expect(seen).toEqual(expect.arrayContaining([{ place: 'sent' }, 'began', { place: 'remote', worker: 'one' }]))
    call.abort()
    expect(await call.told).toBe('stopped')
    await second.end()
  })

  it('SIGTERM drains a worker: what runs ends with its result, and what waits stays for others', async () => {
    const worker = startWorker({ labels: ['drain'] })
    const runner = host({ label: 'drain' })
    const running = send(runner, { ms: 1_000 })
    const waiting = send(runner)
    await running.began
    const code = worker.end('SIGTERM')
    expect(await running.told).toBe('finished')
    worker.process.disconnect()
    expect(await code).toBe(0)
    expect(await waiting.begun()).toBe(0)
    startWorker({ labels: ['drain'] })
    expect(await waiting.told).toBe('finished')
  })

  it('R13 without a resultStore, a long result is an error that says so', async () => {
    const worker = startWorker({ labels: ['small'], storeFolder: '' })
    expect(await send(host({ label: 'small' }), { size: 300_000 }).told).toMatch(
      /finished, but its result.*no resultStore/,
    )
    await worker.end()
  })

  it('R10 a session that is opened again attaches to the job of its call', async () => {
    await haveWorkers()
    const journals = memoryJournals()
    const open = (owner: string, script: Parameters<typeof scriptedModel>[0]) =>
      openSession({
        id: 's',
        journals,
        owner,
        tools: [remote(far, host())],
        model: scriptedModel(script),
        canUseTool: allowAllTools,
      })
    const name = randomUUID()
    const crashed = await open('one', [[{ call: 'Far', input: { file: effects.file, name, ms: 2_000 } }]])
    void drain(crashed.send('go')).catch(() => undefined)
    const begun = async () => (await effects.lines()).filter((line) => line.startsWith(name)).length
    await expect.poll(begun).toBe(1)
    const resumed = await open('two', ['done'])
    expect(JSON.stringify(await drain(resumed.resume()))).toContain('finished')
    expect(await begun()).toBe(1)
    await resumed.close()
  })

  it.each([
    ['suspended while a worker runs it', { hasWorker: true, isReplaced: false }],
    ['suspended while it waits for a worker', { hasWorker: false, isReplaced: false }],
    ['taken over by another owner', { hasWorker: true, isReplaced: true }],
  ])(
    'D10 D15a R10 a call goes on when its session is %s, and the next life gets its result',
    async (_, { hasWorker, isReplaced }) => {
      const label = randomUUID()
      const journals = memoryJournals()
      const runner = host({ label })
      const open = (owner: string, script: Parameters<typeof scriptedModel>[0]) =>
        openSession({
          ...{ id: label, journals, owner, canUseTool: allowAllTools },
          ...{ tools: [remote(far, runner)], model: scriptedModel(script) },
        })
      const begun = async () => (await effects.lines()).filter((line) => line.startsWith(label)).length
      const isUnderWay = async () => (hasWorker ? await begun() : (await runner.depth()).waiting) === 1
      if (hasWorker) startWorker({ labels: [label] })
      const first = await open('one', [[{ call: 'Far', input: { file: effects.file, name: label, ms: 2_000 } }]])
      first.send('go')
      await expect.poll(isUnderWay, { timeout: 20_000 }).toBe(true)
      if (!isReplaced) await first.suspend()
      const second = await open('two', ['done'])
      // an owner learns that it was replaced when it writes
      if (isReplaced) first.send('too late')
      await first.whenIdle()
      if (!hasWorker) startWorker({ labels: [label] })
      expect(JSON.stringify(await drain(second.resume()))).toContain('"toolUseResult":"finished"')
      expect(await begun()).toBe(1)
      await second.close()
    },
    30_000,
  )

  it('D15a R10 a call in the background runs on while its session is suspended and its host is gone', async () => {
    await haveWorkers()
    const journals = memoryJournals()
    const name = randomUUID()
    const life = async (owner: string, script: Parameters<typeof scriptedModel>[0]) => {
      const runner = host()
      const tools = [remote(far, runner)]
      const canUseTool = allowAllTools
      return {
        runner,
        session: await openSession({ id: name, journals, owner, tools, model: scriptedModel(script), canUseTool }),
      }
    }
    const first = await life('one', [
      [{ call: 'Far', id: 'c', input: { file: effects.file, name, ms: 2_000 } }],
      'wait',
    ])
    first.session.send('go')
    const begun = async () => (await effects.lines()).filter((line) => line.startsWith(name)).length
    await expect.poll(begun).toBe(1)
    expect(first.session.detach('c')).toBe(true)
    await first.session.suspend()
    await first.session.close()
    await first.runner.end()
    const second = await life('two', ['wait', 'done'])
    expect(JSON.stringify(await drain(second.session.resume()))).toContain('"toolUseResult":"finished"')
    expect(await begun()).toBe(1)
    await second.session.close()
  })

  it('R3 R4 R7 R8 workers are killed at random: every call ends, and no body with effects begins twice', async () => {
    const [calls, kills] = process.env.SIGNALBOX_FULL === '1' ? [1_000, 60] : [24, 3]
    const runner = host()
    const sent: ReturnType<typeof send>[] = []
    const ended = { finished: 0, unknown: 0 }
    // a kill may come so late that no worker is left
    const keepWorkers = setInterval(() => void haveWorkers().catch(() => undefined), 500)
    for (let n = 0; n < calls; n++) {
      if (n % Math.ceil(calls / kills) === 0) {
        await haveWorkers()
        // while its next call runs, or just before
        void sent.at(-1)?.began.then(() => workers.at(n % 2)?.end())
      }
      sent.push(send(runner, { ms: 50 }))
      // a call whose worker is killed before it reports ends without having begun
      if (n % 4 === 3) await Promise.race([sent.at(-2)?.began, sent.at(-2)?.told])
    }
    for (const call of sent) {
      const told = await call.told
      const begun = await call.begun()
      if (told === 'finished') ended.finished++
      else ended.unknown++
      expect(['finished', 'UnknownOutcomeError']).toContain(told)
      expect(begun).toBeLessThanOrEqual(1)
      if (told === 'finished') expect(begun).toBe(1)
    }
    clearInterval(keepWorkers)
    expect(ended.finished + ended.unknown).toBe(calls)
    expect(ended.finished).toBeGreaterThan(calls / 2)
  })

  describe('with bodies in the process of the worker', () => {
    const label = 'inside'
    const inside: WorkerProcess[] = []
    const haveInside = async () => {
      while (inside.length < 2) inside.push(startWorker({ labels: [label], bodies: 'worker', concurrency: 4 }))
      await Promise.all(inside.map(({ ready }) => ready))
    }

    it('R7 R12 a body runs in the worker itself, reports, stops, and others run beside it', async () => {
      await haveInside()
      const runner = host({ label })
      const calls = Array.from({ length: 6 }, () => send(runner, { ms: 600_000 }))
      for (const { began } of calls) await began
      const pids = (await effects.lines()).slice(-6).map((line) => Number(line.split(' ')[1]))
      expect(new Set(pids)).toEqual(new Set(inside.map(({ process: { pid } }) => pid)))
      for (const { abort } of calls) abort()
      for (const { told } of calls) expect(await told).toBe('stopped')
      expect(await send(runner).told).toBe('finished')
    })

    it('R3 R7 a body that blocks loses its lock: its outcome is unknown, and it never begins twice', async () => {
      await haveInside()
      const call = send(host({ label }), { blocks: 6_000 })
      expect([await call.told, await call.begun()]).toEqual(['UnknownOutcomeError', 1])
      // the worker recovers
      expect(await send(host({ label })).told).toBe('finished')
      expect(await call.begun()).toBe(1)
    })

    it('R5 a body that does not stop goes on, and its outcome is unknown', async () => {
      await haveInside()
      const call = send(host({ label }), { isDeaf: 3_000 }, { abortGraceMs: 100 })
      await call.began
      call.abort()
      expect([await call.told, await call.begun()]).toEqual(['UnknownOutcomeError', 1])
    })

    it('R7 kill -9 of such a worker: its bodies are gone, and said to be unknown', async () => {
      await haveInside()
      const call = send(host({ label }), { ms: 600_000 })
      await call.began
      const pid = Number((await effects.lines()).at(-1)?.split(' ')[1])
      const at = inside.findIndex((worker) => worker.process.pid === pid)
      await inside.splice(at, 1)[0]?.end()
      expect([await call.told, await call.begun()]).toEqual(['UnknownOutcomeError', 1])
    })
  })

  it('R15 a Redis Cluster is refused, wherever it is met first', async () => {
    const cluster = await RedisServer.start([
      '--cluster-enabled',
      'yes',
      '--appendonly',
      'yes',
      '--appendfsync',
      'always',
    ])
    onTestFinished(() => cluster.end())
    await cluster.ask((redis) => redis.call('CLUSTER', 'ADDSLOTSRANGE', '0', '16383'))
    const told: string[] = []
    const engine = { connection: cluster.url, onWarning: ({ message }: EngineWarning) => void told.push(message) }
    const refused = { code: 'invalid_option', message: expect.stringContaining('Redis Cluster is not supported') }
    const journals = redisJournals(engine)
    await expect(journals.open('s', { owner: 'me', mode: 'create' })).rejects.toMatchObject(refused)
    await expect(serveTools({ ...engine, tools, handleSignals: false })).rejects.toMatchObject(refused)
    const build = () => ({ tools: [], model: scriptedModel([]) })
    await expect(serveSessions({ ...engine, journals, build, handleSignals: false })).rejects.toMatchObject(refused)
    const runner = bullRunner(engine)
    await expect(runner.ready()).rejects.toMatchObject(refused)
    const sessions = sessionQueue({ ...engine, journals })
    told.length = 0
    const refusal = expect.stringMatching(/sessionQueue.*Redis Cluster is not supported/)
    await expect.poll(() => told).toContainEqual(refusal)
    // what was refused leaves no connection behind
    await Promise.all([runner.end(), sessions.end(), journals.end()])
    const clients = () => cluster.ask((redis) => redis.call('CLIENT', 'LIST') as Promise<string>)
    await expect.poll(async () => (await clients()).trim().split('\n').length, { timeout: 10_000 }).toBe(1)
  })

  it('R15 a Redis that may forget is a warning', async () => {
    const careless = await RedisServer.start(['--appendonly', 'no', '--maxmemory-policy', 'allkeys-lru'])
    const told: EngineWarning[] = []
    const runner = bullRunner({ connection: careless.url, onWarning: (warning) => told.push(warning) })
    const options = { connection: careless.url, tools, handleSignals: false, name: 'w' }
    const served = await serveTools({ ...options, onWarning: (warning) => told.push(warning) })
    await runner.ready()
    expect(told).toEqual([
      { code: 'engine_not_durable', message: expect.stringMatching(/allkeys-lru.*appendonly is off/) },
      { code: 'engine_not_durable', message: expect.any(String) },
    ])
    expect([served.name, served.health()]).toEqual(['w', { isConnected: true, isDraining: false, running: 0 }])
    await Promise.all([served.close(), runner.end()])
    expect(served.health().isDraining).toBe(true)
    await careless.end()
  })

  it.each([
    [{ connection: 'postgres://127.0.0.1/x' }, /the one for PostgreSQL loses events/],
    [{ connection: 'redis://x', queue: 'q' }, /Unknown option queue/],
    [{ connection: { host: 'x', keyPrefix: 'app:' } }, /keyPrefix is not supported. Use the option prefix/],
    [{ connection: 'redis://x', label: 'a:b' }, /label: expected/],
    [{ connection: 'redis://x', prefix: '{x}' }, /prefix: expected/],
    [{ connection: 'redis://x', pickupMs: -1 }, /pickupMs: expected milliseconds/],
  ])('R15 refuses %j', (options, problem) => {
    expect(() => bullRunner(options as never)).toThrow(problem)
  })

  it('refuses a worker with wrong options', async () => {
    const options = { connection: 'redis://x', tools }
    await expect(serveTools({ ...options, concurrency: 0 })).rejects.toThrow(/concurrency/)
    await expect(serveTools({ ...options, labels: [''] })).rejects.toThrow(/labels/)
    await expect(serveTools({ ...options, bodies: 'thread' as never })).rejects.toThrow(/bodies: expected/)
    await expect(serveTools({ ...options, bodies: 'worker', execArgv: ['-r'] })).rejects.toThrow(/execArgv/)
  })
})

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}

async function drain(messages: AsyncIterable<unknown>): Promise<unknown[]> {
  const seen: unknown[] = []
  for await (const message of messages) seen.push(message)
  return seen
}
