import { describeValue } from './describe-value.ts'
import { SignalboxError, type SignalboxErrorCode } from './signalbox-error.ts'

/** Throws an error that names the option, what was expected and what was received. */
export function invalidOption(
  option: string,
  expected: string,
  received: unknown,
  code: SignalboxErrorCode = 'invalid_option',
): never {
  // JSON has no NaN: in quotes, it would look like a string
  const shown = typeof received === 'number' ? String(received) : describeValue(received, 80)
  throw new SignalboxError(code, `${option}: expected ${expected}, received ${shown}.`)
}

/** Throws an error that names the unknown option and the known ones. */
export function unknownOption(option: string, known: Iterable<string>): never {
  throw new SignalboxError('invalid_option', `Unknown option ${option}. Known options: ${[...known].join(', ')}.`)
}
