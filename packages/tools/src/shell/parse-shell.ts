import { forEachChild, type ParsedScript, parse, type SyntaxNode } from 'unbash'
import { maxCommandChars } from './plain-script.ts'

const maxHereDocuments = 100
const maxBraces = 500

/** Parses a shell command; undefined for texts that would take too long to parse. */
export function parseShell(text: string): ParsedScript | undefined {
  if (text.length > maxCommandChars || count(text, '<<') > maxHereDocuments || count(text, '{') > maxBraces)
    return undefined
  return parse(text)
}

function count(text: string, sign: string): number {
  let found = 0
  for (let at = text.indexOf(sign); at >= 0; at = text.indexOf(sign, at + sign.length)) found++
  return found
}

export type { SyntaxNode }
export { forEachChild }
