import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/** One command per line; symbols stand for characters that a line cannot contain. */
const read = (name: string): string[] =>
  readFileSync(join(import.meta.dirname, name), 'utf8')
    .trim()
    .split('\n')
    .map((line) => line.replaceAll('⏎', '\n').replaceAll('⇥', '\t'))

/** Most of these write a file `marker` when bash runs them; all would with some version of their programs. */
export const dangerousCommands = read('dangerous-commands.txt')
/** These only read, and rules for their programs must allow them. */
export const harmlessCommands = read('harmless-commands.txt')
/** Everyday commands, and the rules that people would write for them. */
export const everydayCommands = read('everyday-commands.txt')
export const everydayRules = read('everyday-rules.txt')
