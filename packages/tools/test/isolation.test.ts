import { existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, describe, expect, it, onTestFinished, vi } from 'vitest'
import { createTools, type ToolSetOptions } from '../src/index.ts'
import { runTool, scratch } from './bench.ts'
import { hasNamespaces, isolations, leavers, sleeper } from './isolations.ts'
import { childrenOf, commandLine, eventually, processesNamed, processesWith } from './processes.ts'

function bashIn(shell: Exclude<ToolSetOptions['shell'], false> = {}) {
  const root = scratch()
  const { tools, close, isolation } = createTools({ root, shell })
  onTestFinished(close)
  return { root, tools, isolation, bash: (command: string, more = {}) => runTool(tools, 'Bash', { command, ...more }) }
}

describe.each(isolations)('a command (%s)', (isolation) => {
  it('reports its own exit code or signal', async () => {
    const { bash, isolation: seen } = bashIn({ isolation })
    expect(seen).toBe(isolation)
    const endings = {
      'exit 0': '(no output)',
      'exit 3': '(no output)\n[Exit code 3]',
      'exit 137': '(no output)\n[Exit code 137]',
      'bash -c "kill -9 \\$\\$"; exit $?': expect.stringContaining('[Exit code 137]'),
      'kill -9 $$': '(no output)\n[Killed by SIGKILL]',
      'kill -TERM $$': '(no output)\n[Killed by SIGTERM]',
      'kill -INT $$': '(no output)\n[Killed by SIGINT]',
      'kill -SEGV $$': '(no output)\n[Killed by SIGSEGV]',
      'trap "exit 143" TERM; kill $$': '(no output)\n[Exit code 143]',
      'trap : EXIT; exec bash -c "exit 130"': '(no output)\n[Exit code 130]',
    }
    for (const [command, text] of Object.entries(endings))
      expect([command, (await bash(command)).text]).toEqual([command, text])
  })

  it('reports it every time', async () => {
    const { bash } = bashIn({ isolation })
    const texts = new Set<string>()
    const some = async (): Promise<void> => {
      for (let round = isolation === 'namespace' ? 0 : 12; round < 15; round++) texts.add((await bash('exit 7')).text)
    }
    await Promise.all([some(), some(), some(), some()])
    expect([...texts]).toEqual(['(no output)\n[Exit code 7]'])
  })

  it('is the same user, sees itself, and has jobs and signals like any other', async () => {
    const { root, bash } = bashIn({ isolation })
    const { text } = await bash(`id -u; id -g; cat /proc/$$/comm; ps -o comm= -p $$; touch made`)
    expect(text).toBe(`${process.getuid?.()}\n${process.getgid?.()}\nbash\nbash`)
    expect(statSync(join(root, 'made')).uid).toBe(process.getuid?.())
    expect((await bash('sleep 1000 & kill %1; wait %1; echo $?; [ $$ -gt 1 ] && echo not the first')).text).toBe(
      '143\nnot the first',
    )
    expect((await bash('trap "echo trapped" INT USR1; kill -INT $$; kill -USR1 $$')).text).toBe('trapped\ntrapped')
    expect((await bash('(sleep 0.1; kill -CONT $$) & kill -STOP $$; echo on again')).text).toBe('on again')
    expect((await bash('trap "" TERM; sleep 1000 & kill -TERM 0; echo alive')).text).toBe('alive')
    expect(
      (
        await bash(
          'cat <(echo one) <(echo two); coproc cat; exec 8<&$COPROC; kill $COPROC_PID; wait; cat <&8; echo three',
        )
      ).text,
    ).toBe('one\ntwo\nthree')
  })

  it('has its orphaned processes reaped', async () => {
    const { bash } = bashIn({ isolation })
    const gone = 'for i in {1..500}; do kill -0 $orphan 2>/dev/null || exec echo buried; sleep 0.02; done'
    expect((await bash(`orphan=$(bash -c 'sleep 0.05 >/dev/null & echo $!'); ${gone}`)).text).toBe('buried')
  })

  it.each(['ends', 'is out of time', 'is stopped'])('leaves no process when it %s', async (how) => {
    const { nap, name } = sleeper()
    // asked once for all: looking through all processes takes long, and some commands end by themselves
    let someRuns: Promise<void> | undefined
    const one = async (command: string): Promise<void> => {
      const { bash, tools } = bashIn({ isolation, killGraceMs: 50, env: { TOKEN: name } })
      if (how === 'ends') await bash(`{ ${command}\n} & sleep 0.1`)
      else if (how === 'is out of time') await bash(command, { timeout: 300 })
      else {
        const host = new AbortController()
        const running = runTool(tools, 'Bash', { command }, { context: { abortController: host } })
        someRuns ??= eventually(() => !existsSync('/proc') || processesNamed(name).length > 0)
        await someRuns
        host.abort('escape')
        await running
      }
    }
    await Promise.all(leavers(nap, isolation).map(one))
    expect(await processesWith(`TOKEN=${name}`)).toEqual([])
    if (isolation === 'namespace') expect(processesNamed(name)).toEqual([])
    await eventually(() => processesNamed(name).length === 0)
  })

  it('sends TERM before KILL, so that remaining processes can clean up', async () => {
    const { root, bash } = bashIn({ isolation, killGraceMs: 20_000 })
    const tidy = `trap 'echo cleaned > cleaned; exit' TERM; touch ready; while :; do sleep 0.02; done`
    await bash(`setsid bash -c "${tidy}" & until [ -e ready ]; do sleep 0.02; done`)
    expect(existsSync(join(root, 'cleaned'))).toBe(true)
  })

  it.runIf(process.platform === 'linux')('can open its output by name', async () => {
    const { bash } = bashIn({ isolation })
    const { text } = await bash(
      'echo one >/dev/stdout; echo two | tee /dev/stderr >/dev/null; cat <<<three >/proc/self/fd/1',
    )
    expect(text).toBe('one\ntwo\nthree')
  })

  it('that cannot be started is reported', async () => {
    expect((await bashIn({ isolation, bash: '/not/there' }).bash('ls')).text).toContain('could not be started')
    const wrapCommand = () => ({ file: 'no-such-wrapper', args: [], cwd: '/', env: {} })
    expect((await bashIn({ isolation, wrapCommand }).bash('ls')).text).toContain('no-such-wrapper was not found')
  })
})

describe.runIf(hasNamespaces)('in a namespace', () => {
  it('a command sees no other process, and its pid is unique', async () => {
    const { bash } = bashIn({ isolation: 'namespace' })
    expect((await bash('ps -e --no-headers | wc -l')).text).toMatch(/^[2345]$/)
    const numbers = await Promise.all([1, 2, 3, 4, 5].map(async () => (await bash('echo $$')).text))
    expect(new Set(numbers).size).toBeGreaterThan(1)
  })

  it('a command ends with the process that holds its namespace', async () => {
    const { nap, name } = sleeper()
    const { bash } = bashIn({ isolation: 'namespace' })
    const ran = bash(`env -i setsid ${nap} 1000 >/dev/null 2>&1 3>&- & ${nap} 1000`)
    const holders = () => childrenOf(process.pid).filter((pid) => commandLine(pid).includes(nap))
    await eventually(() => processesNamed(name).some((line) => /\d+ \S+ 1000 $/.test(line)))
    for (const pid of holders()) process.kill(pid, 'SIGKILL')
    expect((await ran).isError).toBe(true)
    await eventually(() => processesNamed(name).length === 0)
  })
})

describe('without a namespace', () => {
  it('a process that leaves its group, its environment and its output is not found, as documented', async () => {
    const { nap, name } = sleeper()
    const { bash } = bashIn({ isolation: 'group' })
    await bash(
      `env -i setsid ${nap} 1000 </dev/null >/dev/null 2>&1 3>&- & until pgrep -x ${name}; do sleep 0.02; done`,
    )
    const left = processesNamed(name)
    for (const line of left) process.kill(Number.parseInt(line, 10), 'SIGKILL')
    expect(left).toHaveLength(1)
  })
})

describe('the option isolation', () => {
  afterEach(() => vi.unstubAllEnvs())

  it('must be a known value, and cannot be combined with a custom runner', () => {
    const root = scratch()
    expect(() => createTools({ root, shell: { isolation: 'jail' as never } })).toThrow(
      `isolation: expected 'auto', 'namespace' or 'group', received "jail".`,
    )
    const processRunner = {} as never
    expect(() => createTools({ root, shell: { isolation: 'group', processRunner } })).toThrow(
      'cannot be combined with processRunner',
    )
    expect(createTools({ root, shell: { processRunner } }).isolation).toBeUndefined()
    expect(createTools({ root, shell: false }).isolation).toBeUndefined()
  })

  it('namespace throws if it is not possible; auto falls back to a group', async () => {
    vi.resetModules()
    vi.stubEnv('PATH', '/nowhere')
    const { createTools: create } = await import('../src/index.ts')
    const root = scratch()
    expect(() => create({ root, shell: { isolation: 'namespace' } })).toThrow(
      /isolation: 'namespace' is not possible here: (bash|util-linux) was not found|only Linux/,
    )
    expect(create({ root }).isolation).toBe('group')
  })
})
