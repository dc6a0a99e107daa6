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

const knownNames = new Set([
  'AbortError',
  'AggregateError',
  'EvalError',
  'RangeError',
  'ReferenceError',
  'SignalboxError',
  'SyntaxError',
  'TimeoutError',
  'TypeError',
  'URIError',
  'ZodError',
])

/**
 * A stable telemetry label without private data: the error's own `telemetryMessage`, a system code such as `ENOENT`, a
 * well-known name, or `Error`. Never throws.
 */
export function classifyToolError(error: unknown): string {
  const own = readField(error, 'telemetryMessage')
  if (typeof own === 'string' && own !== '') return own.slice(0, 200)
  const code = readField(error, 'code')
  if (typeof code === 'string' && /^E[A-Z0-9_]{2,40}$/.test(code)) return code
  const name = readField(error, 'name')
  return typeof name === 'string' && knownNames.has(name) ? name : 'Error'
}
