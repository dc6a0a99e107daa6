import { randomUUID } from 'node:crypto'
import { type BullRunner, bullRunner, keySeal } from '@signalbox/bullmq'
import { Queue } from 'bullmq'
import type { AnyTool, Tool } from 'signalbox'
import { type RemoteCall, remoteToolOf } from 'signalbox/remote'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { effectsFile } from '../../../test/remote/effects-file.ts'
import { DroppingProxy } from './dropping-proxy.ts'
import { parentOf } from './parent-of.ts'
import { pay } from './pay-tool.ts'
import { findRedis, RedisServer } from './redis-server.ts'
import { type BuiltPrograms, buildWorker, WorkerProcess } from './worker-process.ts'

const isThere = findRedis() !== undefined
const isFull = process.env.SIGNALBOX_FULL === '1'
const patient = { timeout: 30_000, interval: 50 }

describe.skipIf(!isThere && process.env.CI !== 'true')('faults between host, Redis and worker', () => {
  let server: RedisServer
  let programs: BuiltPrograms
  const effects = effectsFile()
  let ends: (() => unknown)[] = []
  beforeAll(async () => {
    ;[server, programs] = await Promise.all([RedisServer.start(), buildWorker()])
  })
  afterEach(async () => {
    for (const end of ends.reverse()) await end()
    ends = []
  })
  afterAll(async () => {
    programs?.remove()
    effects.remove()
    await server?.end()
  })
  const startWorker = async (change: object = {}): Promise<WorkerProcess> => {
    const times = { concurrency: 1, lockMs: 1_000, checkMs: 300 }
    const options = { connection: server.url, tools: programs.payTool, ...times, ...change }
    const worker = new WorkerProcess(programs.path, options)
    ends.push(() => worker.end())
    await worker.ready
    return worker
  }
  const host = (change: object = {}): BullRunner => {
    const made = bullRunner({ connection: server.url, lookMs: 100, onWarning: () => undefined, ...change })
    ends.push(() => made.end())
    return made
  }
  const send = (runner: BullRunner, ms: number, change: Partial<RemoteCall> = {}) => {
    const key = randomUUID()
    const stop = new AbortController()
    const places: string[] = []
    const told = runner
      .call({
        ...{ key, tool: remoteToolOf(pay as AnyTool), toolUseID: 'c', input: { key, file: effects.file, ms } },
        ...{ context: {}, again: false, attach: false, abortGraceMs: 2_000, timeoutMs: undefined },
        ...{ signal: stop.signal, onProgress: () => undefined, onPlace: ({ place }) => void places.push(place) },
        ...change,
      })
      .then(
        ({ data }) => String(data).split(' ')[0],
        (error: Error) => error.name,
      )
    const begun = async () => (await effects.lines()).filter((line) => line.startsWith(`began ${key} `)).length
    return { key, told, begun, places, abort: () => stop.abort('enough') }
  }

  it('R9 a network that drops everything between host and Redis costs no result', async () => {
    await startWorker()
    const proxy = await DroppingProxy.to(server.url)
    ends.unshift(() => proxy.end())
    const call = send(host({ connection: proxy.url }), 300)
    await expect.poll(() => call.places, patient).toContain('remote')
    proxy.cut()
    await expect.poll(async () => (await effects.lines()).includes(`did ${call.key}`), patient).toBe(true)
    expect(await Promise.race([call.told, 'open'])).toBe('open')
    proxy.heal()
    expect([await call.told, await call.begun()]).toEqual(['did', 1])
  })

  it('R7 a network that drops everything between worker and Redis: unknown, and never a second beginning', async () => {
    const proxy = await DroppingProxy.to(server.url)
    ends.unshift(() => proxy.end())
    await startWorker({ connection: proxy.url, labels: ['far'] })
    const call = send(host({ label: 'far' }), 2_500)
    await expect.poll(() => call.begun(), patient).toBe(1)
    proxy.cut()
    await startWorker({ labels: ['far'] })
    expect(await call.told).toBe('UnknownOutcomeError')
    proxy.heal()
    await expect.poll(async () => (await effects.lines()).includes(`did ${call.key}`), patient).toBe(true)
    expect(await call.begun()).toBe(1)
  })

  it('R3 R7 SIGSTOP of a worker in the middle of a body: unknown, and its late result changes nothing', async () => {
    const first = await startWorker({ labels: ['stop'] })
    const runner = host({ label: 'stop' })
    const call = send(runner, 600_000)
    await expect.poll(() => call.begun(), patient).toBe(1)
    first.process.kill('SIGSTOP')
    await startWorker({ labels: ['stop'] })
    expect(await call.told).toBe('UnknownOutcomeError')
    // the second worker gets the job too, and refuses it
    await withQueue(server, 'tools-stop', (queue) =>
      expect.poll(() => queue.getJobState(`call-${call.key}`), { timeout: 15_000 }).toBe('completed'),
    )
    expect(await call.begun()).toBe(1)
    first.process.kill('SIGCONT')
    // both workers take calls
    const others = await Promise.all([send(runner, 200).told, send(runner, 200).told])
    expect([others, await call.begun()]).toEqual([['did', 'did'], 1])
  })

  it('R6 R7 a job that waits again because its worker was lost is never said not to have run', async () => {
    const worker = await startWorker({ labels: ['twice'] })
    const call = send(host({ label: 'twice' }), 600_000)
    await expect.poll(() => call.begun(), patient).toBe(1)
    // the host cannot look while all of this happens: it is gone
    const key = call.key
    await ends.pop()?.()
    await worker.end()
    await call.told
    await requeueStalled(server, 'tools-twice')
    const again = { attach: true, key }
    const attached = send(host({ label: 'twice', pickupMs: 200 }), 0, again)
    expect(await attached.told).toBe('UnknownOutcomeError')
    const never = send(host({ label: 'nobody', pickupMs: 200 }), 0)
    expect(await never.told).toBe('DidNotRunError')
  })

  it('R5 R7 an abort of such a job is unknown too; a paused queue keeps nothing for ever', async () => {
    const worker = await startWorker({ labels: ['abort'] })
    const call = send(host({ label: 'abort' }), 600_000)
    await expect.poll(() => call.begun(), patient).toBe(1)
    await ends.pop()?.()
    await worker.end()
    await call.told
    await requeueStalled(server, 'tools-abort')
    const attached = send(host({ label: 'abort' }), 0, { attach: true, key: call.key })
    await expect.poll(() => attached.places, patient).toContain('sent')
    attached.abort()
    expect(await attached.told).toBe('UnknownOutcomeError')
    await withQueue(server, 'tools-paused', (queue) => queue.pause())
    expect(await send(host({ label: 'paused', pickupMs: 200 }), 0).told).toBe('DidNotRunError')
  })

  it('R5 a call that is stopped while it is being sent is never delivered', async () => {
    const secret = 'a secret of this test'
    const { encrypt, decrypt } = keySeal(secret)
    let release: () => void = () => undefined
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const seal = { decrypt, encrypt: (text: string, about: string) => held.then(() => encrypt(text, about)) }
    await startWorker({ labels: ['slow'], secret })
    const call = send(host({ label: 'slow', seal }), 0)
    call.abort()
    const job = `signalbox:tools-slow:call-${call.key}`
    await expect.poll(() => server.ask((redis) => redis.hkeys(job)), patient).toEqual(['stopped'])
    release()
    expect(await call.told).toBe('DidNotRunError')
    // a session that is opened again looks for the job of its call
    const attached = send(host({ label: 'slow', seal: keySeal(secret) }), 0, { attach: true, key: call.key })
    expect(await attached.told).toBe('DidNotRunError')
    expect(await send(host({ label: 'slow', seal: keySeal(secret) }), 0).told).toBe('did')
    expect(await call.begun()).toBe(0)
  })

  it('R5 a worker remembers a stop that arrives before its job', async () => {
    await startWorker({ labels: ['early'] })
    const key = randomUUID()
    const stop = JSON.stringify({ id: `call-${key}`, reason: 'enough' })
    await server.ask((redis) => redis.publish('signalbox:tools-early:aborts', stop))
    const call = send(host({ label: 'early' }), 0, { key })
    expect(await call.told).toBe('DidNotRunError')
    expect(await send(host({ label: 'early' }), 0).told).toBe('did')
  })

  it('R4 a result is found although the host began to listen after the job had ended', async () => {
    await startWorker({ labels: ['late'] })
    const call = send(host({ label: 'late' }), 0)
    expect(await call.told).toBe('did')
    const again = send(host({ label: 'late', lookMs: 60_000 }), 0, { key: call.key })
    expect(await again.told).toBe('did')
    expect(await call.begun()).toBe(1)
  })

  it('R7 a read-only call whose workers are all lost does not stay open for ever', async () => {
    const worker = await startWorker({ labels: ['read'] })
    const call = send(host({ label: 'read', pickupMs: 1_000 }), 600_000, { again: true })
    await expect.poll(() => call.begun(), patient).toBe(1)
    await worker.end()
    expect(await call.told).toBe('UnknownOutcomeError')
  })

  it('R7 R12 the second run of a read-only call reports its progress too', async () => {
    const first = await startWorker({ labels: ['again'] })
    const reports: unknown[] = []
    const onProgress = (data: unknown): void => void reports.push(data)
    const call = send(host({ label: 'again' }), 600_000, { again: true, onProgress })
    await expect.poll(() => reports.length, patient).toBe(1)
    await startWorker({ labels: ['again'] })
    await first.end()
    await expect.poll(() => call.begun(), patient).toBe(2)
    await expect.poll(() => reports.length, patient).toBe(2)
    call.abort()
    await call.told
  })

  it('R5 R7 a read-only call that is stopped after its worker was lost is not said not to have run', async () => {
    const worker = await startWorker({ labels: ['gone'] })
    const call = send(host({ label: 'gone' }), 600_000, { again: true })
    await expect.poll(() => call.begun(), patient).toBe(1)
    await worker.end()
    call.abort()
    expect(await call.told).toBe('UnknownOutcomeError')
    await requeueStalled(server, 'tools-gone')
    await startWorker({ labels: ['gone'] })
    const attached = send(host({ label: 'gone' }), 0, { attach: true, key: call.key })
    expect(await attached.told).toBe('UnknownOutcomeError')
    expect(await call.begun()).toBe(1)
  })

  it('R14 a worker survives whatever others publish or queue', async () => {
    await startWorker({ labels: ['open'] })
    await server.ask(async (redis) => {
      for (const text of ['', '{', 'null', '{"id":{}}']) await redis.publish('signalbox:tools-open:aborts', text)
    })
    const told = await withQueue(server, 'tools-open', async (queue) => {
      const jobs = await Promise.all(
        [{}, { tool: 7 }, { tool: { name: 'Pay' }, input: 'x' }].map((data) => queue.add('x', data)),
      )
      await expect.poll(() => queue.getCompletedCount(), patient).toBe(3)
      return Promise.all(jobs.map(async ({ id }) => (await queue.getJob(String(id)))?.returnvalue?.outcome?.status))
    })
    expect(told).toEqual(['notRun', 'notRun', 'notRun'])
    expect(await send(host({ label: 'open' }), 0).told).toBe('did')
  })

  it('R12 R14 with a seal, Redis never sees an input or a result, and a worker begins only what a host has sealed', async () => {
    const secret = 'a secret of this test'
    await startWorker({ labels: ['sealed'], secret })
    const runner = host({ label: 'sealed', seal: keySeal(secret) })
    const call = send(runner, 50)
    expect([await call.told, await call.begun()]).toEqual(['did', 1])
    const stored = await withQueue(server, 'tools-sealed', async (queue) => {
      const [job] = await queue.getCompleted()
      // somebody who can write to Redis, but does not know the secret
      const copy = await queue.add('Pay', job?.data, { jobId: 'call-copied' })
      const forged = await queue.add('Pay', { tool: remoteToolOf(pay as AnyTool), input: { file: effects.file } })
      await expect.poll(() => queue.getCompletedCount(), patient).toBe(3)
      const told = await Promise.all(
        [copy, forged].map(async ({ id }) => (await queue.getJob(String(id)))?.returnvalue),
      )
      return { told, text: JSON.stringify(job) }
    })
    expect(stored.text).not.toContain(effects.file)
    expect(stored.text).not.toContain('did ')
    expect(await call.begun()).toBe(1)
    for (const outcome of stored.told) expect(Object.keys(outcome)).toEqual(['sealed'])
    // a host with another secret, and one without
    const other = send(host({ label: 'sealed', seal: keySeal('some other secret') }), 0)
    const plain = send(host({ label: 'sealed' }), 0)
    expect([await other.told, await plain.told]).toEqual(['UnknownOutcomeError', 'UnknownOutcomeError'])
    expect([await other.begun(), await plain.begun()]).toEqual([0, 0])
    expect(() => keySeal('short')).toThrow(/at least 16 characters/)
    expect(() => host({ seal: {} })).toThrow(/seal: expected an object/)
  })

  it.runIf(isFull)('R14 a worker of another version does not begin the body', async () => {
    await startWorker({ labels: ['old'] })
    const newer = { ...(pay as AnyTool), version: '2' } as Tool
    const call = send(host({ label: 'old' }), 0, { tool: remoteToolOf(newer) })
    expect([await call.told, await call.begun()]).toEqual(['DidNotRunError', 0])
  })

  it('R9 R15 a replica takes over: what it has goes on, and what it lacks is unknown', async () => {
    const replica = await RedisServer.start()
    ends.push(() => replica.end())
    await replica.follow(server)
    const proxy = await DroppingProxy.to(server.url)
    ends.unshift(() => proxy.end())
    await startWorker({ connection: proxy.url, labels: ['moved'], concurrency: 2 })
    const runner = host({ connection: proxy.url, label: 'moved' })
    // both must still run when the replica takes over, also on a busy machine
    const kept = send(runner, 4_000)
    await expect.poll(() => kept.begun(), patient).toBe(1)
    await server.waitForReplica()
    await replica.lead()
    const lost = send(runner, 4_000)
    await expect.poll(() => lost.begun(), patient).toBe(1)
    proxy.leadTo(replica.url)
    expect([await kept.told, await lost.told]).toEqual(['did', 'UnknownOutcomeError'])
    expect([await kept.begun(), await lost.begun()]).toEqual([1, 1])
  })

  it.each(
    isFull ? [1_000, 60_000] : [1_000],
  )('R9 Redis is away for %d ms: calls stay open, and get their results', async (ms) => {
    const worker = await startWorker({ labels: ['away'] })
    const call = send(host({ label: 'away' }), 500)
    await expect.poll(() => call.begun(), patient).toBe(1)
    await server.crash()
    await new Promise((resolve) => setTimeout(resolve, ms))
    await server.run()
    // a lock that ran out meanwhile may make another worker say so
    expect(['did', 'UnknownOutcomeError']).toContain(await call.told)
    expect(await call.begun()).toBe(1)
    expect(parentOf(Number(worker.process.pid))).toBe(process.pid)
  })
})

async function withQueue<Value>(server: RedisServer, name: string, work: (queue: Queue) => Promise<Value>) {
  const { hostname, port } = new URL(server.url)
  const queue = new Queue(name, { connection: { host: hostname, port: Number(port) }, prefix: 'signalbox' })
  try {
    return await work(queue)
  } finally {
    await queue.close()
  }
}

/** What a worker does that is lost in turn: it puts the job of a lost worker back, and takes nothing. */
async function requeueStalled(server: RedisServer, name: string): Promise<void> {
  await server.ask(async (redis) => {
    const active = `signalbox:${name}:active`
    const [id] = await redis.lrange(active, 0, -1)
    await redis.lrem(active, 1, String(id))
    await redis.rpush(`signalbox:${name}:wait`, String(id))
    await redis.del(`signalbox:${name}:${id}:lock`)
  })
}
