import { isAbsolute, resolve } from 'node:path'
import type { AndOr, Command } from 'unbash'
import { parseShell } from './parse-shell.ts'
import { plainWord } from './plain-word.ts'

/**
 * The command without a `cd <where it already is> &&` at its front, which models like to write. Only where that would
 * hold in any other folder too: the shell may be elsewhere by the time it runs.
 */
export function withoutRedundantCd(command: string, cwd: string, realpath: (path: string) => string): string {
  if (!/^\s*cd\s/.test(command)) return command
  const script = parseShell(command)
  const first = script.commands[0]?.command
  if (script.errors?.length || first?.type !== 'AndOr') return command
  const { commands, operators } = first as AndOr
  const [cd, next] = commands
  if (operators[0] !== '&&' || cd?.type !== 'Command' || next === undefined) return command
  const { name, prefix, suffix } = cd as Command
  const [target, ...more] = suffix
  if (name?.text !== 'cd' || prefix.length > 0 || more.length > 0 || target?.type !== 'Word') return command
  const word = plainWord(target)
  if (word === undefined || word.hasGlob || !(word.text === '.' || isAbsolute(word.text))) return command
  return leadsTo(resolve(cwd, word.text), cwd, realpath) ? command.slice(next.pos) : command
}

function leadsTo(path: string, cwd: string, realpath: (path: string) => string): boolean {
  try {
    return path === cwd || realpath(path) === cwd
  } catch {
    return false
  }
}
