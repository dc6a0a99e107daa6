import { isHarmlessAssignment, isHarmlessName } from './harmless-variables.ts'
import type { PlainCommand } from './plain-script.ts'
import type { PlainWord } from './plain-word.ts'

/** Builtins that can change the meaning of later words: variables, aliases, options. */
const builtins = new Set(
  `alias declare export getopts hash let local mapfile read readarray readonly set shift shopt typeset unalias unset
  wait`.split(/\s+/),
)

/** Builtins that evaluate array indexes in their arguments, and so any code inside them. */
const evaluating = new Set(
  'test [ declare export getopts let local mapfile read readarray readonly typeset unset wait'.split(' '),
)

const isPlainSet = (text: string): boolean => /^[-+][euxvfo]+$|^(?:pipefail|errexit|nounset|xtrace|verbose)$/.test(text)

const isHarmlessExport = (word: PlainWord): boolean =>
  word.text.includes('=') ? isHarmlessAssignment(word) : isHarmlessName(word.text)

/** Later commands of the same script may no longer mean what their words say. */
export function changesTheRest({ words: [program, ...args] }: PlainCommand): boolean {
  if (program.text === 'export') return !args.every(isHarmlessExport)
  if (program.text === 'set') return !args.every(({ text }) => isPlainSet(text))
  return builtins.has(program.text)
}

/** Its arguments can have effects: `test -v 'a[$(evil)]'` runs a program, `printf -v PATH x` sets a variable. */
export function evaluatesItsWords({ words: [program, ...args] }: PlainCommand): boolean {
  if (program.text === 'printf') {
    return args.slice(0, 2).some(({ text }) => text.startsWith('-v') || /%[-+ #0'*\d.$]*[hlLjzt]*n/.test(text))
  }
  if (!evaluating.has(program.text)) return false
  return args.some(({ text }) => text.includes('[') && text !== '[')
}
