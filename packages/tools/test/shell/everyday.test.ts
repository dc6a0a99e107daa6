import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createToolUseContext, parseRule } from 'signalbox'
import { afterAll, expect, it, onTestFinished } from 'vitest'
import { createTools } from '../../src/create-tools.ts'
import { put } from '../bench.ts'
import { everydayCommands, everydayRules } from './command-lists.ts'

const root = mkdtempSync(join(tmpdir(), 'signalbox-everyday-'))
for (const file of ['src/index.ts', 'test/index.test.ts', 'packages/cli/package.json', 'data.txt', '.git/HEAD']) {
  mkdirSync(dirname(join(root, file)), { recursive: true })
  writeFileSync(join(root, file), '')
}
const set = createTools({ root })
afterAll(async () => {
  await set.close()
  rmSync(root, { recursive: true })
})
const bash = set.tools.find(({ name }) => name === 'Bash')

async function runsUnasked(command: string, allow: readonly string[]): Promise<boolean> {
  const context = { ...createToolUseContext({ permissions: { allow } }), toolUseID: 'a' }
  const own = await bash?.checkPermissions?.({ command }, context)
  if (own?.behavior === 'allow') return true
  for (const rule of allow) {
    if ((await bash?.matchesRule?.(parseRule(rule).spec ?? '', { command }, context, 'allow')) === true) return true
  }
  return false
}

it('of 190 everyday commands at least 95 % run without a prompt with the rules of a developer', async () => {
  const rules = everydayRules.map((spec) => `Bash(${spec})`)
  const asked: string[] = []
  for (const command of everydayCommands) if (!(await runsUnasked(command, rules))) asked.push(command)
  expect(everydayCommands.length).toBeGreaterThanOrEqual(190)
  expect(asked.length / everydayCommands.length).toBeLessThan(0.05)
})

it('without rules only read commands run, and nothing outside the workspace', async () => {
  const unasked: string[] = []
  for (const command of everydayCommands) if (await runsUnasked(command, [])) unasked.push(command)
  expect(unasked.length).toBeGreaterThan(30)
  expect(unasked.filter((command) => /npm|make|rm|mkdir|commit|push|touch|node -e/.test(command))).toEqual([])
  const outside = [
    'cat /etc/passwd',
    'ls ..',
    'grep -r x /',
    'cd / && ls',
    'cat src/../../x',
    'cd src && cat ../../x',
    'cd src && cd ../..',
    'cd src; cat ../x',
    'git diff /dev/null /etc/passwd',
  ]
  for (const command of outside) expect([command, await runsUnasked(command, [])]).toEqual([command, false])
})

it('wildcards of paths run unasked where every file that they match is plain and may be read', async () => {
  const other = mkdtempSync(join(tmpdir(), 'signalbox-wildcards-'))
  onTestFinished(() => rmSync(other, { recursive: true }))
  for (const file of [
    'a.ts',
    'b.ts',
    'src/c.ts',
    'src/d.md',
    'src/deep/e.ts',
    'links/f.ts',
    'odd/-n',
    'up/x',
    'up/.env',
  ])
    put(join(other, file), '')
  symlinkSync('/etc/passwd', join(other, 'links/passwd.ts'))
  symlinkSync('/etc', join(other, 'links/folder'))
  const tools = createTools({ root: other })
  onTestFinished(() => tools.close())
  const own = tools.tools.find(({ name }) => name === 'Bash')
  const isUnasked = async (command: string, deny: string[] = []): Promise<boolean> => {
    const context = { ...createToolUseContext({ permissions: { deny } }), toolUseID: 'a' }
    return (await own?.checkPermissions?.({ command }, context))?.behavior === 'allow'
  }
  const harmless = [
    'cat *.ts',
    'wc -l src/*.ts',
    'ls src/*',
    'head -3 src/*/*.ts',
    'grep x src/?.ts',
    'cat src/*.none',
    'cd src && cat *.ts',
    'cat ./*.ts',
  ]
  for (const command of harmless) expect([command, await isUnasked(command)]).toEqual([command, true])
  const doubtful = [
    'cat links/*',
    'cat links/p*',
    'ls */*',
    'cat */passwd.ts',
    'cd odd && cat *',
    'uniq src/*',
    'cmp src/*',
    'head -n * a.ts',
    'grep * a.ts',
    'sed -n 1p src/*',
    'git diff src/*',
    'cat .*',
    'cat up/.*',
    'cat src/../*',
    'cat [ab].ts',
    'cat /etc/*',
    'cd *',
    'rm src/*',
  ]
  for (const command of doubtful) expect([command, await isUnasked(command)]).toEqual([command, false])
  expect(await isUnasked('cat src/*', ['Read(src/d.md)'])).toBe(false)
  expect(await isUnasked('cat src/*.ts', ['Read(src/d.md)'])).toBe(true)
})
