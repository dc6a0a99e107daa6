import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync } from 'node:fs'
import { describe, expect, it, onTestFinished } from 'vitest'
import { watchedChild } from '../../../test/support/children/watched-children.ts'
import type { Isolation } from '../src/index.ts'
import { scratch } from './bench.ts'
import { hostProgram } from './host-program.ts'
import { hasNamespaces, isolations, leavers, sleeper } from './isolations.ts'
import { childrenOf, commandLine, eventually, processesNamed } from './processes.ts'

/** A folder for a host and all its files, writable for every user. */
function openFolder(): string {
  const root = scratch()
  chmodSync(root, 0o777)
  return root
}

function startHost(program: string, root: string, options: object, user: object = {}): ChildProcess {
  const host = spawn(process.execPath, [program, JSON.stringify(options)], {
    cwd: root,
    stdio: ['ignore', 'pipe', 'inherit'],
    ...user,
  })
  onTestFinished(() => void host.kill('SIGKILL'))
  return host
}

const firstLine = async ({ stdout }: ChildProcess): Promise<string> => String((await once(stdout as never, 'data'))[0])

describe.each(isolations)('a host with commands (%s)', (isolation) => {
  it('that ends by itself also ends its background runs, without waiting for them', async () => {
    const { nap, name } = sleeper()
    const root = scratch()
    const program = hostProgram(root, `console.log(await inBackground(options.command, 'begun'))`)
    const command = `setsid ${nap} 1000 & touch begun; ${nap} 1000`
    const { stdout, status } = spawnSync(
      process.execPath,
      [program, JSON.stringify({ shell: { isolation }, command })],
      {
        cwd: root,
        encoding: 'utf8',
        env: { ...process.env, ...watchedChild },
        timeout: 60_000,
      },
    )
    expect([stdout, status]).toEqual([
      expect.stringMatching(/^Running in the background as bg_1\..*\ncompleted\n$/s),
      0,
    ])
    // after KILL they end a moment later
    await eventually(() => processesNamed(name).length === 0)
  })

  it('that is killed at any moment leaves no process', async () => {
    const { nap, name } = sleeper()
    const root = openFolder()
    const program = hostProgram(
      root,
      `console.log('up')
      for (const command of options.commands) void bash(command)
      await Promise.all(options.commands.map((command) => bash(command, { run_in_background: true })))`,
    )
    const rounds = process.env.SIGNALBOX_FULL ? 60 : isolation === isolations[0] ? 8 : 3
    const all = leavers(nap, isolation)
    for (let round = 0; round < rounds; round++) {
      const commands = [0, 1, 2].map((index) => all[(round * 3 + index) % all.length])
      const host = startHost(program, root, { shell: { isolation, killGraceMs: 30 }, commands })
      const exited = once(host, 'exit')
      await firstLine(host)
      const timer = setTimeout(() => host.kill('SIGKILL'), Math.random() * 150)
      await exited
      clearTimeout(timer)
      await eventually(() => processesNamed(name).length === 0)
    }
    expect(processesNamed(name)).toEqual([])
  })
})

describe('a host that is killed', () => {
  const waiting = `bash(options.command, { run_in_background: true })
    await exists('begun')
    console.log(set.isolation)
    setInterval(() => undefined, 1000)`

  it.runIf(process.getuid?.() === 0)('leaves no process without root either', async () => {
    const { nap, name } = sleeper()
    const root = openFolder()
    const program = hostProgram(root, waiting)
    const command = `(setsid ${nap} 1000 &); echo "$UID" > begun; exec ${nap} 1000`
    const host = startHost(program, root, { shell: {}, command }, { uid: 65534, gid: 65534 })
    expect(['namespace\n', 'group\n'] satisfies `${Isolation}\n`[]).toContain(await firstLine(host))
    expect(processesNamed(name).length).toBeGreaterThan(0)
    host.kill('SIGKILL')
    await eventually(() => processesNamed(name).length === 0)
  })

  it('leaves no process even if its watchdog was killed before', async () => {
    const { nap, name } = sleeper()
    const root = openFolder()
    const program = hostProgram(root, waiting)
    const command = `(setsid ${nap} 1000 &); touch begun; exec ${nap} 1000`
    const host = startHost(program, root, { shell: { isolation: 'group' }, command })
    expect(await firstLine(host)).toBe('group\n')
    const dogs = () => childrenOf(host.pid as number).filter((pid) => commandLine(pid).startsWith('/bin/sh -c live='))
    const [first] = dogs()
    expect(first).toBeTypeOf('number')
    process.kill(first as number, 'SIGKILL')
    await eventually(() => dogs().some((pid) => pid !== first))
    host.kill('SIGKILL')
    await eventually(() => processesNamed(name).length === 0)
  })

  it.runIf(hasNamespaces)('leaves no process in a namespace, which has no watchdog', async () => {
    const { nap, name } = sleeper()
    const root = openFolder()
    const program = hostProgram(root, waiting)
    const away = '</dev/null >/dev/null 2>&1 3>&-'
    const command = `(env -i setsid ${nap} 1000 ${away} &); touch begun; exec ${nap} 1000`
    const host = startHost(program, root, { shell: { isolation: 'namespace' }, command })
    expect(await firstLine(host)).toBe('namespace\n')
    host.kill('SIGKILL')
    await eventually(() => processesNamed(name).length === 0)
  })
})
