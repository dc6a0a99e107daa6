import type { Command, ParsedScript, SyntaxNode, Word, WordPart } from 'unbash'
import { forEachChild, maxCommandChars, parseShell } from './parse-shell.ts'
import { hasSyntax } from './plain-word.ts'

/** The words of a command; a word that the shell would make something else of is undefined. */
export type SeenCommand = readonly (string | undefined)[]

/**
 * Every command anywhere in a text, in substitutions, functions and compound commands too. Undefined where the text
 * cannot be read as a whole.
 */
export function everyCommand(text: string): SeenCommand[] | undefined {
  // line breaks and tabs are readable, other control characters are not
  if (text.length > maxCommandChars || /[^\P{Cc}\n\t]/u.test(text) || !text.isWellFormed()) return undefined
  const found: SeenCommand[] = []
  let isReadable = true
  const visit = (node: SyntaxNode): void => {
    if (node.type === 'Script' && (node as ParsedScript).errors?.length) isReadable = false
    if (node.type === 'Word' && isMisread(node as Word)) isReadable = false
    if (node.type === 'Command') found.push(wordsOf(node as Command))
    forEachChild(node, visit)
  }
  visit(parseShell(text))
  return isReadable ? found : undefined
}

/** A word that the shell cannot have read as one. */
function isMisread({ parts, text }: Word): boolean {
  return parts === undefined ? hasSyntax(text) : parts.some((part) => part.type === 'Literal' && hasSyntax(part.text))
}

function wordsOf({ name, args }: Command): SeenCommand {
  const rest = args.map((arg) => (arg.type === 'Word' ? certainText(arg) : arg.text))
  return name === undefined ? rest : [certainText(name), ...rest]
}

function certainText({ parts, value }: Word): string | undefined {
  return parts === undefined || parts.every(isCertain) ? value : undefined
}

function isCertain(part: WordPart): boolean {
  if (part.type === 'DoubleQuoted') return part.parts.every(({ type }) => type === 'Literal')
  return part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted'
}
