import { classifyToolError } from './classify-tool-error.ts'
import { describeValue } from './describe-value.ts'
import { readField } from './read-field.ts'

const maxMessage = 10_000
const maxFrames = 3

/** Any thrown value as text for a model. Errors of an unknown kind include the top of their stack trace. */
export function describeError(error: unknown, thrower = 'The tool'): string {
  const message = readField(error, 'message')
  if (typeof message !== 'string') {
    return error === undefined ? `${thrower} threw undefined.` : `${thrower} threw ${describeValue(error, maxMessage)}`
  }
  const name = readField(error, 'name')
  const head = `${typeof name === 'string' && name !== '' ? name : 'Error'}: ${cut(message) || '(no message)'}`
  return classifyToolError(error) === 'Error' ? head + topOfStack(error) : head
}

function cut(text: string): string {
  if (text.length <= maxMessage) return text
  const half = maxMessage / 2
  return `${text.slice(0, half)}\n… ${text.length - maxMessage} characters left out …\n${text.slice(-half)}`
}

function topOfStack(error: unknown): string {
  const stack = readField(error, 'stack')
  if (typeof stack !== 'string') return ''
  const frames = stack
    .slice(0, 4 * maxMessage)
    .split('\n')
    .filter((line) => /^\s+at /.test(line))
  return frames
    .slice(0, maxFrames)
    .map((frame) => `\n${frame.slice(0, 200)}`)
    .join('')
}
