import { type SpawnSyncOptions, spawnSync } from 'node:child_process'
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'

/** What bash really did with a command. */
export interface Observed {
  /** The words of every started program. */
  readonly started: readonly (readonly string[])[]
  /** Files that were created or changed in the folder of the command. */
  readonly changed: readonly string[]
}

// one write for the whole record: in a pipeline, two stubs append at the same time
const note = `#!/bin/sh
printf '%s\\0' "\${0##*/}" "$@" '
' >> "$SIGNALBOX_LOG"
`

const limits: SpawnSyncOptions = { stdio: ['ignore', 'pipe', 'pipe'], timeout: 10_000, killSignal: 'SIGKILL' }

const files = { 'a.txt': 'alpha\n', 'b.txt': 'touch marker\n', 'src/c.txt': 'gamma\n', '-x': '', 'x y': '' }

/**
 * Runs commands in the real bash, where every program is a stub that notes its words: what bash made of a command is
 * then known, and nothing else happens. In bubblewrap where it is installed, else in a folder that is thrown away.
 */
export function stubbedBash(programs: readonly string[]): { folder: string; run(command: string): Observed } {
  const home = mkdtempSync(join(tmpdir(), 'signalbox-stubs-'))
  afterAll(() => rmSync(home, { recursive: true, force: true }))
  const [bin, work, log] = [join(home, 'bin'), join(home, 'work'), join(home, 'log')]
  mkdirSync(bin)
  writeFileSync(join(bin, '.stub'), note)
  chmodSync(join(bin, '.stub'), 0o755)
  for (const name of programs) symlinkSync(join(bin, '.stub'), join(bin, name))
  const hasSandbox = spawnSync('bwrap', ['--ro-bind', '/', '/', 'true']).status === 0
  const sandbox = [
    '--ro-bind',
    '/',
    '/',
    '--dev',
    '/dev',
    '--bind',
    home,
    home,
    '--unshare-all',
    '--die-with-parent',
    '--chdir',
    work,
  ]
  const prepare = (): void => {
    rmSync(work, { recursive: true, force: true })
    mkdirSync(join(work, 'src'), { recursive: true })
    for (const [name, text] of Object.entries(files)) writeFileSync(join(work, name), text)
    writeFileSync(join(work, 'run.sh'), note)
    chmodSync(join(work, 'run.sh'), 0o755)
  }
  const expected = new Map<string, string>(Object.entries({ ...files, 'run.sh': note }))
  prepare()
  const run = (command: string): Observed => {
    writeFileSync(log, '')
    const args = ['--noprofile', '--norc', '-c', command]
    const env = { PATH: bin, HOME: work, LANG: 'C.UTF-8', SIGNALBOX_LOG: log }
    const inside = Object.entries(env).flatMap(([name, value]) => ['--setenv', name, value])
    const ran = hasSandbox
      ? spawnSync('bwrap', [...sandbox, '--clearenv', ...inside, '/bin/bash', ...args], limits)
      : spawnSync('/bin/bash', args, { ...limits, cwd: work, env })
    if (ran.error !== undefined && !('code' in ran.error && ran.error.code === 'ETIMEDOUT')) throw ran.error
    const changed = changesIn(work, expected)
    if (changed.length > 0) prepare()
    const records = readFileSync(log, 'utf8').split('\n\0').slice(0, -1)
    return { started: records.map((record) => record.split('\0').slice(0, -1)), changed }
  }
  return { folder: work, run }
}

function changesIn(folder: string, expected: ReadonlyMap<string, string>): string[] {
  if (!existsSync(folder)) return ['.']
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name !== 'src')
  const added = names.filter((name) => !expected.has(name))
  const touched = [...expected].filter(
    ([name, text]) => !existsSync(join(folder, name)) || readFileSync(join(folder, name), 'utf8') !== text,
  )
  return [...added, ...touched.map(([name]) => name)]
}
