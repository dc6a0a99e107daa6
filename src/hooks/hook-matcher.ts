import { describeError } from '../base/describe-error.ts'

export type MatchesTool = (names: readonly string[]) => boolean

/** The characters of plain names and lists of them; anything else makes a pattern a regular expression. */
const plainNames = /^[\w\-|, ]*$/
const serverName = /^mcp__(?:(?!__).)+$/

/**
 * Parses a matcher: `*` or nothing for every tool, a name, a list of names (`A|B`), `mcp__server` for all tools of that
 * server. Anything else is a regular expression that may match anywhere in the name.
 */
export function readMatcher(matcher: string | undefined): MatchesTool | { problem: string } {
  const text = (matcher ?? '').trim()
  if (text === '' || text === '*') return () => true
  if (plainNames.test(text)) {
    const wanted = text.split(/[|,\s]+/)
    return (names) => names.some((name) => wanted.some((each) => isMeant(each, name)))
  }
  try {
    const pattern = new RegExp(text)
    return (names) => names.some((name) => pattern.test(name))
  } catch (error) {
    return { problem: describeError(error) }
  }
}

const isMeant = (wanted: string, name: string): boolean =>
  wanted === name || (serverName.test(wanted) && name.startsWith(`${wanted}__`))
