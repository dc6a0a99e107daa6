import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createToolUseContext, parseRule } from 'signalbox'
import { afterAll, expect, it } from 'vitest'
import { createTools } from '../../src/create-tools.ts'
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

it('of 100 everyday commands at least 95 run without a prompt with the rules of a developer', async () => {
  const rules = everydayRules.map((spec) => `Bash(${spec})`)
  const asked: string[] = []
  for (const command of everydayCommands) if (!(await runsUnasked(command, rules))) asked.push(command)
  expect(everydayCommands.length).toBeGreaterThanOrEqual(100)
  expect(asked).toEqual([])
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
