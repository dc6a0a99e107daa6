import { unknownOption } from '../base/invalid-option.ts'
import { anObject, checkOption, type OptionRule, requireOption } from '../base/option-rules.ts'

export type OptionRules<Options> = { readonly [Key in keyof Required<Options>]: OptionRule }

/** Rejects wrong and unknown options: with a misspelt `atEnd`, an exploration that checks nothing would pass. */
export function checkOptions<Options>(given: Options, rules: OptionRules<Options>, required: (keyof Options)[]): void {
  requireOption('options', given, anObject)
  for (const [name, value] of Object.entries(given as object)) {
    if (!Object.hasOwn(rules, name)) unknownOption(name, Object.keys(rules))
    checkOption(name, value, rules[name as keyof Options])
  }
  for (const name of required) requireOption(String(name), given[name], rules[name])
}
