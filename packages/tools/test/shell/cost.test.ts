import { expect, it } from 'vitest'
import { readShellRule } from '../../src/shell/allow-rule.ts'
import { isBenignExit } from '../../src/shell/benign-exit.ts'
import { concernsCommand } from '../../src/shell/deny-rule.ts'
import { parseShell } from '../../src/shell/parse-shell.ts'
import { consentTo } from '../../src/shell/shell-rule.ts'

it('texts that would take long to parse are not parsed, and count as unreadable', () => {
  const hostile = [
    `cat ${'<<a '.repeat(24_000)}`,
    `cat ${'<<a '.repeat(4_000)}`,
    '{'.repeat(16_000),
    'x'.repeat(100_000),
  ]
  for (const command of hostile) {
    expect(parseShell(command)).toBeUndefined()
    expect(concernsCommand('rm *', command)).toBe(true)
    expect(isBenignExit(command, 1)).toBe(false)
    expect(consentTo([readShellRule('cat *')], command).verdict.ok).toBe(false)
  }
})

it('a command and a rule are parsed once, however often they are checked', () => {
  expect(readShellRule('npm run *')).toBe(readShellRule('npm run *'))
  const rules = Array.from({ length: 200 }, (_, index) => readShellRule(`program${index} *`))
  expect(consentTo([...rules, readShellRule('npm *')], 'npm test').involved.size).toBe(1)
})
