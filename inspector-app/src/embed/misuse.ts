import { SignalboxError } from '../../../src/errors/signalbox-error.ts'
import { describeValue } from '../../../src/text/describe-value.ts'

export function misuse(option: string, expected: string, came: unknown): never {
  throw new SignalboxError('invalid_option', `${option} must be ${expected}, but got ${describeValue(came, 80)}.`)
}
