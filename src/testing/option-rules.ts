import { invalidOption, unknownOption } from '../base/invalid-option.ts'
import { isRecord } from '../base/read-field.ts'

/** Whether a value is valid, and what is expected. */
export type OptionRule = readonly [isValid: (value: unknown) => boolean, expected: string]

export type OptionRules<Options> = { readonly [Key in keyof Required<Options>]: OptionRule }

/** Rejects wrong and unknown options: with a misspelt `atEnd`, an exploration that checks nothing would pass. */
export function checkOptions<Options>(given: Options, rules: OptionRules<Options>, required: (keyof Options)[]): void {
  if (!isRecord(given)) invalidOption('options', 'an object', given)
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(rules, name)) unknownOption(name, Object.keys(rules))
    const [isValid, expected] = rules[name as keyof Options]
    if (value !== undefined && !isValid(value)) invalidOption(name, expected, value)
  }
  for (const name of required) if (given[name] === undefined) invalidOption(String(name), rules[name][1], undefined)
}

export const isFunction = (value: unknown): boolean => typeof value === 'function'

export const oneOf = (...values: readonly string[]): OptionRule => [
  (value) => values.includes(value as string),
  values.map((value) => `'${value}'`).join(' or '),
]

export const aFlag: OptionRule = [(value) => typeof value === 'boolean', 'true or false']
export const aCount: OptionRule = [(value) => Number.isInteger(value) && (value as number) > 0, 'a positive integer']
export const someTime: OptionRule = [(value) => typeof value === 'number' && value > 0, 'a positive number']
export const aFunction: OptionRule = [isFunction, 'a function']
export const anObject: OptionRule = [isRecord, 'an object']
export const aList: OptionRule = [Array.isArray, 'an array']
