import { describeValue } from '../../../src/base/describe-value.ts'
import { SignalboxError } from '../../../src/base/signalbox-error.ts'

export function misuse(option: string, expected: string, came: unknown): never {
  throw new SignalboxError('invalid_option', `${option} must be ${expected}, but got ${describeValue(came, 80)}.`)
}
