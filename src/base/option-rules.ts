import { invalidOption } from './invalid-option.ts'
import { isRecord } from './read-field.ts'
import type { SignalboxErrorCode } from './signalbox-error.ts'

/** Whether a value is valid, and what is expected. The same expectation has the same words in every error. */
export type OptionRule = readonly [isValid: (value: unknown) => boolean, expected: string]

/** Throws at an invalid value. Undefined is valid: the option was not passed. */
export function checkOption(name: string, value: unknown, rule: OptionRule, code?: SignalboxErrorCode): void {
  if (value !== undefined) requireOption(name, value, rule, code)
}

/** The same for an option that must be passed. */
export function requireOption(name: string, value: unknown, rule: OptionRule, code?: SignalboxErrorCode): void {
  const [isValid, expected] = rule
  if (!isValid(value)) invalidOption(name, expected, value, code)
}

const isNumber = (value: unknown): value is number => typeof value === 'number'
const isPositive = (value: unknown): boolean => isNumber(value) && value > 0
export const isFunction = (value: unknown): boolean => typeof value === 'function'

export const aString: OptionRule = [(value) => typeof value === 'string', 'a string']
export const aName: OptionRule = [(value) => typeof value === 'string' && value !== '', 'a non-empty string']
export const aFlag: OptionRule = [(value) => typeof value === 'boolean', 'true or false']
export const aFunction: OptionRule = [isFunction, 'a function']
export const anObject: OptionRule = [isRecord, 'an object']
export const anArray: OptionRule = [Array.isArray, 'an array']

export const aNumberAbove0: OptionRule = [isPositive, 'a number above 0']
export const aNumberFrom = (least: number): OptionRule => [
  (value) => isNumber(value) && value >= least,
  `a number of at least ${least}`,
]
export const anIntegerFrom = (least: number, most?: number): OptionRule => [
  (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= (most ?? Infinity),
  most === undefined ? `an integer of at least ${least}` : `an integer from ${least} to ${most}`,
]
export const milliseconds: OptionRule = [(value) => isNumber(value) && value >= 0, 'milliseconds']

export const positiveMilliseconds: OptionRule = [isPositive, 'more than 0 milliseconds']
export const positiveSeconds: OptionRule = [isPositive, 'more than 0 seconds']

export const or = ([isOne, one]: OptionRule, [isOther, other]: OptionRule): OptionRule => [
  (value) => isOne(value) || isOther(value),
  `${one}, or ${other}`,
]

/** No limit. */
export const infinity: OptionRule = [(value) => value === Infinity, 'Infinity']

export const oneOf = (...values: readonly string[]): OptionRule => [
  (value) => values.includes(value as string),
  values
    .map((value) => `'${value}'`)
    .join(', ')
    .replace(/, ([^,]*)$/, ' or $1'),
]
