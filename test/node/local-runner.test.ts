import { type LocalRunner, localRunner } from 'signalbox/node'
import { type RemoteCall, remoteToolOf } from 'signalbox/remote'
import { describeToolRunner } from 'signalbox/testing'
import { afterEach, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { effectsFile } from '../remote/effects-file.ts'

describe('in processes of this machine', () => {
  const noEngine = 'there is no engine between the host and its processes'
  describeToolRunner(
    (tools) => {
      const effects = effectsFile()
      const runner = localRunner({ tools, maxProcesses: 2 })
      return {
        runner,
        effects,
        async killWorker() {
          const [, pid] = (await effects.lines()).at(-1)?.split(' ') ?? []
          process.kill(Number(pid), 'SIGKILL')
        },
        async end() {
          await runner.end()
          effects.remove()
        },
      }
    },
    { describe, it },
    {
      lacks: {
        anotherHost: 'its processes end with the host',
        restartEngine: noEngine,
        dropEvents: noEngine,
        forgetJobs: noEngine,
        removeWorkers: 'it starts its processes itself',
      },
    },
  )
})

describe('faults of bodies and of their module', () => {
  const runners: LocalRunner[] = []
  const pool = (source: string, options: object = {}): LocalRunner => {
    const runner = localRunner({ tools: `data:text/javascript,${encodeURIComponent(source)}`, ...options })
    runners.push(runner)
    return runner
  }
  afterEach(async () => void (await Promise.all(runners.splice(0).map((runner) => runner.end()))))
  const inputSchema = '{ toJSONSchema: () => ({}), safeParseAsync: async (data) => ({ success: true, data }) }'
  const tool = (body: string): string => `export const far = { name: 'Far', inputSchema: ${inputSchema}, ${body} }`
  const wanted = remoteToolOf({
    name: 'Far',
    inputSchema: z.object({}),
    inputJSONSchema: { type: 'object' },
    call: async () => ({ data: 0 }),
  })
  const call = (change: Partial<RemoteCall> = {}): RemoteCall => ({
    key: crypto.randomUUID(),
    tool: wanted,
    toolUseID: 'c',
    input: {},
    context: {},
    again: false,
    attach: false,
    abortGraceMs: 50,
    timeoutMs: undefined,
    signal: new AbortController().signal,
    onProgress: () => undefined,
    onPlace: () => undefined,
    ...change,
  })

  it('R5 R7 a body that never yields leaves the host free, and is killed when it is told to stop', async () => {
    const runner = pool(tool('async call(a, b, c, d, onProgress) { onProgress({ data: process.pid }); for (;;); }'))
    const controller = new AbortController()
    let pid = 0
    const outcome = runner.run(
      call({
        signal: controller.signal,
        onProgress: (data) => {
          pid = Number(data)
          controller.abort('enough')
        },
      }),
    )
    expect(await outcome).toMatchObject({ status: 'threw', error: { name: 'AbortError' } })
    expect(() => process.kill(pid, 0)).toThrow('ESRCH')
  })

  it('R7 a body that ends its process has an unknown outcome, and the next call has a new process', async () => {
    const runner = pool(
      tool(
        'async call({ crash }) { if (!crash) return { data: 1 }; setTimeout(() => process.exit(3)); await new Promise(() => {}) }',
      ),
      { maxProcesses: 1 },
    )
    expect(await runner.run(call({ input: { crash: true } }))).toMatchObject({ status: 'unknown' })
    expect(await runner.run(call())).toMatchObject({ status: 'returned', result: { data: 1 } })
  })

  it.each([
    ['a module that throws', 'throw new Error("no licence")', /no licence/],
    ['a module that ends the process', 'process.exit(7)', /exit code 7/],
    ['a module without the tool', 'export const other = 1', /no tool named Far/],
    ['a result that is no JSON', tool('call: async () => ({ data: 1n })'), /finished, but its result cannot/],
  ])('%s is told as such', async (_what, source, problem) => {
    const outcome = await pool(source).run(call())
    expect(JSON.stringify(outcome)).toMatch(problem)
    expect(outcome.status).toBe(source.includes('1n') ? 'threw' : 'notRun')
  })

  it('R14 a process with another version, another schema or without the tool refuses the call', async () => {
    const runner = pool(tool('version: 2, call: async () => ({ data: "ran" })'))
    for (const other of [
      wanted,
      { ...wanted, version: '2', schemaHash: 'x' },
      { ...wanted, version: '2', name: 'Near' },
    ]) {
      expect(await runner.run(call({ tool: other }))).toMatchObject({ status: 'notRun' })
    }
    expect(await runner.run(call({ tool: { ...wanted, version: '2' } }))).toMatchObject({ status: 'returned' })
  })

  it('R6 a call that waits longer than pickupMs does not run; one that ends makes place', async () => {
    const source = tool(
      'call: ({ hold }, { abortController: { signal } }, _, __, onProgress) => hold ? new Promise((resolve) => onProgress({ data: 1 }) || signal.addEventListener("abort", () => resolve({ data: "held" }))) : { data: "ran" }',
    )
    for (const pickupMs of [50, 1e6, Number.POSITIVE_INFINITY]) {
      const runner = pool(source, { maxProcesses: 1, pickupMs })
      const holder = new AbortController()
      const placed = deferred()
      const onProgress = () => placed.resolve(undefined)
      const held = runner.run(call({ input: { hold: true }, signal: holder.signal, onProgress, abortGraceMs: 1e5 }))
      await placed.promise
      const waits = runner.run(call())
      expect(runner.open).toBe(2)
      if (pickupMs === 50)
        expect(await waits).toMatchObject({ status: 'notRun', because: 'no process took it within 50 ms.' })
      holder.abort('over')
      expect(await held).toMatchObject({ status: 'returned' })
      if (pickupMs !== 50) expect(await waits).toMatchObject({ status: 'returned', result: { data: 'ran' } })
    }
  })

  it('a runner that has ended runs nothing; its bodies have an unknown outcome', async () => {
    const runner = pool(
      tool(
        'call: (a, b, c, d, onProgress) => (onProgress({ data: 1 }), new Promise((resolve) => setTimeout(resolve, 1e6)))',
      ),
    )
    const begun = deferred()
    const running = runner.run(call({ onProgress: () => begun.resolve(undefined) }))
    await begun.promise
    await runner.end()
    expect(await running).toMatchObject({ status: 'unknown' })
    expect(await runner.run(call())).toMatchObject({ status: 'notRun' })
  })

  it.each([
    [{}, /tools: expected the path or URL/],
    [{ tools: 'x', processes: 3 }, /Unknown option processes/],
    [{ tools: 'x', maxProcesses: 0 }, /maxProcesses: expected an integer of at least 1/],
    [{ tools: 'x', pickupMs: -1 }, /pickupMs: expected milliseconds/],
  ])('refuses %j', (options, problem) => {
    expect(() => localRunner(options as never)).toThrow(problem)
  })
})

function deferred(): { promise: Promise<unknown>; resolve(value: unknown): void } {
  let resolve: (value: unknown) => void = () => undefined
  const promise = new Promise((done) => {
    resolve = done
  })
  return { promise, resolve }
}
