import { execFileSync, spawnSync } from 'node:child_process'
import { chmodSync, cpSync, existsSync, lstatSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll } from 'vitest'
import { shellEnvironment } from '../../../../src/process/shell-environment.ts'
import { put } from '../bench.ts'

export interface RealBash {
  /** Whether the command wrote a file whose name begins with `marker`. */
  writesMarker(command: string): boolean
}

/** Runs each command with the real bash, like the Bash tool, in a fresh copy of a folder with traps. */
export function realBash(): RealBash {
  const home = mkdtempSync(join(tmpdir(), 'signalbox-bash-'))
  const template = join(home, 'template')
  const folder = join(home, 'run')
  put(join(template, 'a.txt'), 'alpha\nbeta\nalpha\n')
  put(join(template, 'b.txt'), 'gamma\n')
  put(join(template, 'sub/c.txt'), 'delta\n')
  put(join(template, 'script.sh'), 'touch marker\n')
  put(join(template, 'script.py'), 'open("marker","w")\n')
  put(join(template, 'script.sed'), 'w marker\n')
  put(join(template, 'a.hex'), '00000000: 6162  ab\n')
  // a file name that a wildcard turns into an option
  put(join(template, '--output=marker'), '')
  for (const name of ['pre.sh', 'evil']) {
    put(join(template, name), `#!/bin/sh\ntouch ${folder}/marker\n`)
    chmodSync(join(template, name), 0o755)
  }
  const git = (...args: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@b', ...args], { cwd: template, stdio: 'ignore' })
  git('init', '--template=')
  git('add', 'a.txt')
  git('commit', '-m', 'one')
  git('commit', '--allow-empty', '-m', 'two')
  put(join(template, 'a.txt'), 'alpha\nbeta\nalpha beta\n')
  afterAll(() => rmSync(home, { recursive: true, force: true }))
  const env = shellEnvironment(process.env)
  return {
    writesMarker(command) {
      if (stateOf(folder) !== stateOf(template)) {
        rmSync(folder, { recursive: true, force: true })
        cpSync(template, folder, { recursive: true })
      }
      // with a pipe, it also waits for background jobs
      spawnSync('bash', ['--noprofile', '--norc', '-c', command], {
        cwd: folder,
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
        timeout: 20_000,
        killSignal: 'SIGKILL',
      })
      const markers = existsSync(folder) ? readdirSync(folder).filter((name) => name.startsWith('marker')) : []
      for (const name of markers) rmSync(join(folder, name), { recursive: true, force: true })
      return markers.length > 0
    },
  }
}

/** Names and sizes: a new copy is made only if the last command changed something. */
function stateOf(folder: string): string {
  if (!existsSync(folder)) return ''
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => !name.startsWith('.git/'))
  return names
    .sort()
    .map((name) => `${name} ${lstatSync(join(folder, name)).size}`)
    .join()
}
