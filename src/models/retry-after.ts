import { readField } from '../base/read-field.ts'

/**
 * How long the service asks to wait before the next try, in milliseconds, from the headers that a client leaves on
 * its error: `retry-after-ms`, or `retry-after` in seconds or as a date. Undefined where it does not say.
 */
export function retryAfterMs(error: unknown, now: number = Date.now()): number | undefined {
  const headers = headersOf(error)
  const ms = positive(Number.parseFloat(header(headers, 'retry-after-ms')))
  if (ms !== undefined) return ms
  const after = header(headers, 'retry-after').trim()
  if (/^\d+(\.\d+)?$/.test(after)) return positive(Number.parseFloat(after) * 1_000)
  // `Date.parse` makes something of bare numbers too
  return /[a-z]/i.test(after) ? positive(Math.max(Date.parse(after) - now, 0)) : undefined
}

/** What the service itself says about another attempt, in the header `x-should-retry`; it knows better than a status. */
export function shouldRetry(error: unknown): boolean | undefined {
  const said = header(headersOf(error), 'x-should-retry')
  return said === 'true' ? true : said === 'false' ? false : undefined
}

/** Where clients leave the headers of a response; the AI SDK wraps the last of several errors. */
const headersOf = (error: unknown): unknown =>
  readField(error, 'headers') ??
  readField(error, 'responseHeaders') ??
  readField(readField(error, 'response'), 'headers') ??
  readField(readField(error, 'lastError'), 'responseHeaders')

const positive = (ms: number): number | undefined => (Number.isFinite(ms) && ms >= 0 ? ms : undefined)

/** Of a `Headers` object or of a plain one, whose names may be written in any way. */
function header(headers: unknown, name: string): string {
  try {
    const get = readField(headers, 'get')
    const value = typeof get === 'function' ? get.call(headers, name) : plainHeader(headers, name)
    return typeof value === 'string' || typeof value === 'number' ? String(value) : ''
  } catch {
    return ''
  }
}

function plainHeader(headers: unknown, name: string): unknown {
  if (typeof headers !== 'object' || headers === null) return undefined
  const key = Object.keys(headers).find((each) => each.toLowerCase() === name)
  return key === undefined ? undefined : readField(headers, key)
}
