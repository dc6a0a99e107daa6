import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { createTools } from '../../src/create-tools.ts'
import { put, runTool, scratch } from '../bench.ts'

const nobody = async () => ({ behavior: 'deny', message: 'asked' }) as const

/** A repository whose own settings run a program on many occasions. */
function trapped() {
  const root = scratch({ 'a.txt': 'one\n' })
  const marker = join(root, 'marker')
  const git = (...args: string[]): void => void execFileSync('git', args, { cwd: root, stdio: 'ignore' })
  git('init', '--template=')
  git('-c', 'user.name=a', '-c', 'user.email=a@b', 'commit', '--allow-empty', '-m', 'one')
  git('add', 'a.txt')
  put(join(root, 'a.txt'), 'two\n')
  put(join(root, '.gitattributes'), '*.txt diff=trap\n')
  const evil = `touch ${marker}; cat`
  for (const key of [
    'core.fsmonitor',
    'core.pager',
    'diff.external',
    'core.editor',
    'gpg.program',
    'diff.trap.textconv',
    'core.sshCommand',
  ]) {
    git('config', key, evil)
  }
  git('config', 'log.showSignature', 'true')
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
  ]
  for (const command of commands) {
    const { text } = await bash(command)
    expect([command, text.includes('asked'), existsSync(marker)]).toEqual([command, false, false])
  }
  // the traps work
  spawnSync('git', ['diff'], { cwd: root, stdio: 'ignore' })
  expect(existsSync(marker)).toBe(true)
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
