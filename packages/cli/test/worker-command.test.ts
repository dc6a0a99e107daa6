import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { bullRunner } from '@signalbox/bullmq'
import type { Tool } from 'signalbox'
import { remoteToolOf } from 'signalbox/remote'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { findRedis, RedisServer } from '../../bullmq/test/redis-server.ts'
import { loadOptional } from '../src/load-optional.ts'
import { runCli } from '../src/run-cli.ts'
import { fakeIo } from './fake-io.ts'
import { temporaryFolder } from './support.ts'

const isThere = findRedis() !== undefined
const folder = temporaryFolder()
const made = (name: string, text: string): string => {
  writeFileSync(join(folder, name), text)
  return join(folder, name)
}
const inputSchema = `{ toJSONSchema: () => ({ properties: {} }), safeParseAsync: async (data) => ({ success: true, data }) }`
const tools = made(
  'tools.mjs',
  `export const far = { name: 'Far', inputSchema: ${inputSchema}, async call({ ms }, _context, _can, _message, onProgress) {
    onProgress({ data: 'began' })
    await new Promise((resolve) => setTimeout(resolve, ms))
    return { data: 'done after ' + ms }
  } }`,
)
const far: Tool = {
  name: 'Far',
  inputSchema: z.looseObject({}),
  inputJSONSchema: { properties: {}, type: 'object' },
  call: async () => ({ data: 'here' }),
}

/** The command in this process. */
const started = (...args: string[]) => {
  const { io, printed, signal, hasPrinted } = fakeIo()
  const exits: number[] = []
  const ended = runCli(['worker', ...args], { ...io, exit: (code) => void exits.push(code) })
  return { ended, printed, signal, hasPrinted, exits }
}

describe('signalbox worker', () => {
  it.each([
    [['./none.js'], /\.\/none\.js: no such file/],
    [[folder], /expected a module, found a folder/],
    [[made('empty.mjs', 'export const nothing = 1'), '--redis', 'redis://127.0.0.1:1'], /a module that exports tools/],
    [[made('broken.mjs', 'throw new Error("no GPU")'), '--redis', 'redis://127.0.0.1:1'], /can be loaded \(no GPU\)/],
    [[tools, '--redis', 'http://x'], /connection: expected the URL of a Redis server/],
    [[tools, '--label', 'a b'], /labels: expected a name/],
    [[tools, '--concurrency', 'many'], /Expected an integer of at least 1/],
    [[tools, '--bodies', 'thread'], /Allowed choices are process, worker/],
    [[tools, '--bodies', 'worker', '--import', 'tsx'], /--import needs a process for each body/],
  ])('refuses %j', async (args, problem) => {
    const { ended, printed } = started(...args)
    expect([await ended, printed.err]).toEqual([2, expect.stringMatching(problem)])
  })

  it.skipIf(Boolean((process.features as { typescript?: unknown }).typescript))(
    'says what a module in TypeScript needs',
    async () => {
      const { ended, printed } = started(made('tools.ts', ''))
      expect([await ended, printed.err]).toEqual([2, expect.stringMatching(/npm install tsx, then add --import tsx/)])
    },
  )

  it('a package that is not installed is a sentence that says how to install it', async () => {
    await expect(loadOptional('@signalbox/no-such-package', 'Run: npm install it')).rejects.toMatchObject({
      code: 'invalid_option',
      message: 'Run: npm install it',
    })
  })

  it('a signal before Redis has ever answered ends it with code 1, and no password is shown', async () => {
    const worker = started(tools, '--redis', 'redis://me:secret@127.0.0.1:1')
    await expect.poll(() => worker.printed.err).toContain('ECONNREFUSED')
    worker.signal('SIGTERM')
    expect([await worker.ended, worker.exits]).toEqual([1, [1]])
    expect(worker.printed.err).toContain('waiting for Redis at redis://127.0.0.1:1.')
    expect(worker.printed.err).not.toContain('secret')
  })

  describe.skipIf(!isThere && process.env.CI !== 'true')('with a real Redis', () => {
    let server: RedisServer
    beforeAll(async () => {
      server = await RedisServer.start()
    })
    afterAll(() => server?.end())
    const call = (label: string, ms: number) => {
      const runner = bullRunner({ connection: server.url, label })
      let begin: () => void = () => undefined
      const began = new Promise<void>((resolve) => {
        begin = resolve
      })
      const told = runner
        .call({
          ...{ key: `${label} ${ms}`, tool: remoteToolOf(far), toolUseID: 'c', input: { ms }, context: {} },
          ...{ again: false, attach: false, abortGraceMs: 1_000, timeoutMs: undefined },
          ...{ signal: new AbortController().signal, onProgress: () => begin(), onPlace: () => undefined },
        })
        .then(
          ({ data }) => data,
          (error: Error) => error.name,
        )
        .finally(() => runner.end())
      return { told, began }
    }

    it('serves the tools of a module, prints its health, and drains at SIGTERM', async () => {
      const worker = started(
        ...[tools, '--redis', server.url, '--label', 'gpu', '--label', 'cpu'],
        ...['--concurrency', '2', '--name', 'w1', '--health', '1', '--results', folder],
      )
      await worker.hasPrinted('Press Ctrl+C')
      expect(worker.printed.out).toContain(
        `Worker w1 serves Far (Redis at ${server.url}, labels gpu, cpu).\nPress Ctrl+C to drain it.\n`,
      )
      expect(await call('cpu', 1).told).toBe('done after 1')
      const long = call('gpu', 1_500)
      await long.began
      await worker.hasPrinted('{"isConnected":true,"isDraining":false,"running":1}\n')
      worker.signal('SIGTERM')
      expect(await worker.ended).toBe(0)
      expect(await long.told).toBe('done after 1500')
      expect([worker.exits, worker.printed.err]).toEqual([[], ''])
    })

    it('kills what does not end within --drain, and says so', async () => {
      const worker = started(tools, '--redis', server.url, '--label', 'slow', '--drain', '1')
      await worker.hasPrinted('Press Ctrl+C')
      const endless = call('slow', 600_000)
      await endless.began
      worker.signal('SIGINT')
      expect(await worker.ended).toBe(1)
      expect(worker.printed.err).toContain('Killed 1 call after 1 s. The outcome is unknown.')
      expect(await endless.told).toBe('UnknownOutcomeError')
    })

    it('a second signal ends it at once', async () => {
      const worker = started(tools, '--redis', server.url, '--label', 'twice', '--drain', '1')
      await worker.hasPrinted('Press Ctrl+C')
      const endless = call('twice', 600_000)
      await endless.began
      worker.signal('SIGTERM')
      await worker.hasPrinted('Draining')
      worker.signal('SIGINT')
      expect(worker.exits).toEqual([130])
      await Promise.all([worker.ended, endless.told])
    })
  })
})
