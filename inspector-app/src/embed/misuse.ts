import { describeValue } from '../../../src/base/describe-value.ts'
import { SignalboxError } from '../../../src/base/signalbox-error.ts'

export function misuse(option: string, expected: string, received: unknown): never {
  throw new SignalboxError(
    'invalid_option',
    `${option}: expected ${expected}, received ${describeValue(received, 80)}.`,
  )
}
