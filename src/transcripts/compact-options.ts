import { invalidOption, unknownOption } from '../base/invalid-option.ts'
import type { LongResult } from '../results/result-store.ts'

/** A result that is about to be replaced. Its text is without images and other blocks. */
export interface OldResult extends LongResult {
  readonly isError: boolean
}

export interface CompactOptions {
  /**
   * How many of the latest results stay as they are. Results that no reply has followed yet always do.
   * @default 5
   */
  keepLast?: number | undefined
  /**
   * Results up to this many characters stay as they are.
   * @default 1_000
   */
  minChars?: number | undefined
  /**
   * Says in short what an old result said. Called for one result after the other. Where it throws, or returns no
   * text, or one that is no shorter, the result is left out without a summary.
   * @default none
   */
  summarize?: ((result: OldResult) => string | Promise<string>) | undefined
}

export interface CompactSettings {
  readonly keepLast: number
  readonly minChars: number
  readonly summarize: CompactOptions['summarize']
}

const names = ['keepLast', 'minChars', 'summarize'] satisfies (keyof CompactOptions)[]

/** Checked on entry, so that a wrong option fails where it was written. */
export function readCompactOptions(options: CompactOptions): CompactSettings {
  if (typeof options !== 'object' || options === null) invalidOption('options', 'an object', options)
  for (const key of Object.keys(options)) {
    if (!(names as string[]).includes(key)) {
      unknownOption(key, names)
    }
  }
  const { keepLast = 5, minChars = 1_000, summarize } = options
  if (!isCount(keepLast)) invalidOption('keepLast', 'a whole number, 0 or more', keepLast)
  if (!isCount(minChars)) invalidOption('minChars', 'a whole number, 0 or more', minChars)
  if (summarize !== undefined && typeof summarize !== 'function') invalidOption('summarize', 'a function', summarize)
  return { keepLast, minChars, summarize }
}

const isCount = (value: unknown): boolean => (Number.isInteger(value) && (value as number) >= 0) || value === Infinity
