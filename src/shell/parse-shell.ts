import type { ParsedScript, SyntaxNode } from 'unbash'
import { missingPackage } from '../workspace/optional-package.ts'

// at once, since the class of a call has to be known at once; who never runs a shell need not have it
const loaded = await import('unbash').then(
  (unbash) => ({ unbash }),
  (error: unknown) => ({ error }),
)

export const maxCommandChars = 8_192

/** The syntax tree of a shell command. Throws where the parser is not installed. */
export function parseShell(text: string): ParsedScript {
  return parser().parse(text)
}

export function forEachChild(node: SyntaxNode, visit: (child: SyntaxNode) => void): void {
  parser().forEachChild(node, visit)
}

export function assertParser(): void {
  parser()
}

function parser(): typeof import('unbash') {
  if ('error' in loaded) throw missingPackage('unbash', loaded.error)
  return loaded.unbash
}
