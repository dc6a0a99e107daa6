import { type ChildProcess, spawn } from 'node:child_process'
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { builtProject } from '../../../scripts/built-project.mjs'
import { findRedis, RedisServer } from '../../bullmq/test/redis-server.ts'
import { builtCli } from './support.ts'

const isThere = findRedis() !== undefined
const page = readFileSync(resolve(import.meta.dirname, '../../../docs/fleet.md'), 'utf8')
const files = [...page.matchAll(/`(\w+\.mjs)`:\n\n```js\n([\s\S]*?)```/g)].map(
  ([, name, text]) => [name, text] as const,
)

describe.skipIf(!isThere && process.env.CI !== 'true')('the page on fleets', () => {
  // built before the time of the test begins
  const cli = isThere ? builtCli() : ''
  const children: ChildProcess[] = []
  const ends: (() => unknown)[] = []
  afterAll(async () => {
    for (const child of children) child.kill('SIGKILL')
    for (const end of ends) await end()
  })

  it('has programs that run as it says, with the user that it names; a killed orchestrator is replaced', async () => {
    expect(files.map(([name]) => name)).toEqual(['tools.mjs', 'orchestrator.mjs', 'ask.mjs'])
    const folder = join(builtProject(), `fleet-page-${process.pid}`)
    mkdirSync(folder)
    ends.push(() => rmSync(folder, { recursive: true }))
    for (const [name, text] of files) writeFileSync(join(folder, name ?? ''), text ?? '')
    const settings = /^redis-server (.*)$/m.exec(page)?.[1]?.split(' ') ?? []
    const server = await RedisServer.start(settings)
    ends.push(() => server.end())
    const start = (args: readonly string[], url = server.url) => {
      const child = spawn(process.execPath, args, {
        cwd: folder,
        env: { ...process.env, REDIS_URL: url },
        stdio: 'pipe',
      })
      children.push(child)
      let text = ''
      for (const stream of [child.stdout, child.stderr]) stream.on('data', (bytes) => (text += bytes))
      const exited = new Promise<number | null>((settle) => child.once('exit', settle))
      return { child, exited, said: () => text }
    }
    const acl = /`ACL (SETUSER worker [^`]*)`/.exec(page)?.[1]?.split(' ') ?? []
    await server.ask((redis) => redis.call('ACL', ...acl))
    const [, ...worker] = /^npx signalbox (worker .*)$/m.exec(page)?.[1]?.split(' ') ?? []
    const served = start([cli, 'worker', ...worker], server.url.replace('//', '//worker:secret@'))
    await expect.poll(served.said, { timeout: 30_000 }).toContain('serves Primes')
    const orchestrators = [start(['orchestrator.mjs']), start(['orchestrator.mjs'])]
    for (const { said } of orchestrators) await expect.poll(said, { timeout: 30_000 }).toContain('takes sessions')
    const ask = async (id: string, prompts = 1) => {
      const asked = start(['ask.mjs', id, 'How many primes are there below 5000?'])
      expect([await asked.exited, asked.said()]).toEqual([0, expect.stringContaining('There are 669.')])
      expect(asked.said()).toContain('669 primes below 5000')
      expect(asked.said().split('user "How many').length - 1).toBe(prompts)
    }
    await ask('invoice-7')
    await ask('invoice-7', 2)
    orchestrators[0]?.child.kill('SIGKILL')
    await ask('invoice-8')
    expect(served.said()).not.toMatch(/engine_|NOPERM|may lose/)
    served.child.kill('SIGTERM')
    orchestrators[1]?.child.kill('SIGTERM')
    expect([await served.exited, await orchestrators[1]?.exited]).toEqual([0, 0])
  }, 120_000)
})
