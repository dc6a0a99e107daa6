import { invalidOption, unknownOption } from '../base/invalid-option.ts'
import { aFunction, anIntegerFrom, checkOption, infinity, or } from '../base/option-rules.ts'
import type { LongResult } from '../results/long-result.ts'

/** A result that is about to be replaced. `text` leaves out images and other blocks. */
export interface OldResult extends LongResult {
  readonly isError: boolean
}

export interface CompactOptions {
  /**
   * How many of the latest results stay unchanged. Results without a later reply always stay.
   * @default 5
   */
  keepLast?: number | undefined
  /**
   * Results up to this many characters stay unchanged.
   * @default 1_000
   */
  minChars?: number | undefined
  /**
   * Summarizes an old result. Called for one result at a time. If it throws, returns no text, or returns a text that is
   * not shorter, the result is removed without a summary.
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

/** Checked on entry, so that an invalid option throws at the call that passed it. */
export function readCompactOptions(options: CompactOptions): CompactSettings {
  if (typeof options !== 'object' || options === null) invalidOption('options', 'an object', options)
  for (const key of Object.keys(options)) {
    if (!(names as string[]).includes(key)) {
      unknownOption(key, names)
    }
  }
  const { keepLast = 5, minChars = 1_000, summarize } = options
  checkOption('keepLast', keepLast, aCount)
  checkOption('minChars', minChars, aCount)
  checkOption('summarize', summarize, aFunction)
  return { keepLast, minChars, summarize }
}

const aCount = or(anIntegerFrom(0), infinity)
