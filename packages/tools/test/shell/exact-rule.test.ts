import fc from 'fast-check'
import { expect, it } from 'vitest'
import { exactShellRule } from '../../src/shell/exact-rule.ts'
import { isHarmlessAssignment } from '../../src/shell/harmless-variables.ts'
import { allowsCommand, readScript } from '../../src/shell/shell-rule.ts'
import { commands } from './generated-commands.ts'

const runs = process.env.SIGNALBOX_FULL ? 50_000 : 3_000

/** A command without the parts that no rule has to name: harmless variables, and the source of its input. */
function essence(command: string): string {
  const script = readScript(command)
  if (!script.ok) return command
  const parts = script.commands.map(({ assignments, words }) => [
    assignments.filter((word) => !isHarmlessAssignment(word)).map(({ text }) => text),
    words.map(({ text, marks, hasGlob }) => [text, hasGlob && marks]),
  ])
  return JSON.stringify([script.joints, parts])
}

it('the exact rule of a command covers only that command', () => {
  let covered = 0
  fc.assert(
    fc.property(commands, fc.array(commands, { minLength: 1, maxLength: 8 }), (command, others) => {
      const rule = exactShellRule(command)
      if (rule === undefined) return
      // no rule covers a command that evaluates its words
      if (!allowsCommand(rule, command)) return
      covered++
      for (const other of [
        ...others,
        `${command} x`,
        `${command} && touch y`,
        `${command}; touch y`,
        command.replaceAll('*', 'a'),
      ]) {
        if (allowsCommand(rule, other)) expect([rule, essence(other)]).toEqual([rule, essence(command)])
      }
    }),
    { numRuns: runs },
  )
  expect(covered).toBeGreaterThan(runs / 20)
})

it('a literal star is written with a backslash', () => {
  expect(exactShellRule('rm *')).toBe('rm \\*')
  expect(exactShellRule("rm '*'")).toBe("rm '*'")
  expect(exactShellRule('rm a?b [ab]')).toBe('rm a?b [ab]')
  expect(allowsCommand('rm \\*', 'rm -rf /elsewhere')).toBe(false)
  expect(allowsCommand('rm a?b [ab]', 'rm a?b [ab]')).toBe(true)
  expect(allowsCommand('rm a?b', 'rm axb')).toBe(false)
})
