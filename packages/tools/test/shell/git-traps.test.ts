import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTools } from '../../src/create-tools.ts'
import { put, runTool, scratch } from '../bench.ts'

const nobody = async () => ({ behavior: 'deny', message: 'asked' }) as const

/** A repository whose own settings run a program on many occasions. */
function trapped() {
  const root = scratch({ 'a.txt': 'one\n', 'c.md': 'one\n' })
  const marker = join(root, 'marker')
  const git = (...args: string[]): void => void execFileSync('git', args, { cwd: root, stdio: 'ignore' })
  git('init', '--template=')
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--allow-empty', '-m', 'one')
  git('add', 'a.txt', 'c.md')
  for (const name of ['a.txt', 'c.md']) put(join(root, name), 'two\n')
  put(join(root, '.gitattributes'), '*.txt diff=trap filter=trap\n*.md filter=Other\n')
  const evil = `touch ${marker}; cat`
  for (const key of [
    'core.fsmonitor',
    'core.pager',
    'diff.external',
    'core.editor',
    'gpg.program',
    'diff.trap.textconv',
    'core.sshCommand',
    'filter.trap.clean',
    'filter.trap.process',
    'filter.Other.clean',
  ]) {
    git('config', key, evil)
  }
  git('config', 'log.showSignature', 'true')
  git('config', 'filter.Other.required', 'true')
  // a repository inside, whose state git would ask of another git
  const inner = join(root, 'inner')
  const innerGit = (...args: string[]): void => void execFileSync('git', args, { cwd: inner, stdio: 'ignore' })
  put(join(inner, 'b.txt'), 'one\n')
  innerGit('init', '--template=')
  innerGit('add', 'b.txt')
  innerGit('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '-m', 'one')
  git('-c', 'core.fsmonitor=false', 'add', 'inner')
  put(join(root, '.gitmodules'), '[submodule "inner"]\n\tpath = inner\n\turl = ./inner\n\tignore = none\n')
  put(join(inner, 'b.txt'), 'two\n')
  put(join(inner, '.gitattributes'), '*.txt filter=inner\n')
  innerGit('config', 'filter.inner.clean', evil)
  rmSync(marker, { force: true })
  const set = createTools({ root })
  const bash = (command: string) => runTool(set.tools, 'Bash', { command }, { canUseTool: nobody })
  return { root, marker, bash, set }
}

it('commands that run without a prompt start no program that the repository names', async () => {
  const { root, marker, bash, set } = trapped()
  const commands = [
    'git status',
    'git diff',
    'git diff --stat',
    'git --no-pager log -p',
    'git show',
    'git log',
    'git blame a.txt',
    'git ls-files -m',
    'git describe --always --all',
  ]
  for (const command of commands) {
    const { text } = await bash(command)
    expect([command, text.includes('asked'), existsSync(marker)]).toEqual([command, false, false])
  }
  // the traps are real
  const real = [
    '-c core.fsmonitor=false diff --no-textconv a.txt',
    '-c core.fsmonitor=false -c filter.trap.process= -c filter.Other.required=false status inner',
  ]
  for (const args of real) {
    rmSync(marker, { force: true })
    spawnSync('git', args.split(' '), { cwd: root })
    expect([args, existsSync(marker)]).toEqual([args, true])
  }
  await set.close()
})

it('a bare repository in the workspace is not used', async () => {
  const { root, marker, bash, set } = trapped()
  const sub = join(root, 'sub')
  put(join(sub, 'HEAD'), 'ref: refs/heads/main\n')
  put(join(sub, 'objects/x'), '')
  put(join(sub, 'refs/x'), '')
  put(
    join(sub, 'config'),
    `[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n\tfsmonitor = "touch ${marker}; false"\n`,
  )
  spawnSync('git', ['status'], { cwd: sub, stdio: 'ignore' })
  expect(existsSync(marker)).toBe(true)
  rmSync(marker)
  await bash('cd sub && git status')
  expect(existsSync(marker)).toBe(false)
  await set.close()
})
