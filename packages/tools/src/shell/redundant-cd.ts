import { isAbsolute, resolve } from 'node:path'

const leadingCd = /^\s*cd[ \t]+(?:'([^']*)'|"([^"$`\\]*)"|([\w./@%+,:=-]+))[ \t]*&&\s*/

/**
 * Removes a leading `cd <current folder> &&`, which models often write. Only if the rest means the same in any other
 * folder too: the shell may have moved by the time the command runs.
 */
export function withoutRedundantCd(command: string, cwd: string, realpath: (path: string) => string): string {
  const found = leadingCd.exec(command)
  if (found === null) return command
  const target = found[1] ?? found[2] ?? found[3] ?? ''
  if (!(target === '.' || isAbsolute(target))) return command
  return leadsTo(resolve(cwd, target), cwd, realpath) ? command.slice(found[0].length) : command
}

function leadsTo(path: string, cwd: string, realpath: (path: string) => string): boolean {
  try {
    return path === cwd || realpath(path) === cwd
  } catch {
    return false
  }
}
