import { toolError } from 'signalbox'

/** The pattern is invalid in every engine. */
export const invalidPattern = (why: string): Error => toolError(`Invalid pattern: ${why}`, 'Pattern')

/** Valid in ripgrep, which is not installed. */
export const needsRipgrep = (what: string): Error =>
  toolError(
    `The pattern uses ${what}, which needs ripgrep, and ripgrep is not installed. Rewrite the pattern without it.`,
    'Pattern',
  )
