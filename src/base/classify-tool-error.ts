import { readField } from './read-field.ts'

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
