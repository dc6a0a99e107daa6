import { readField } from '../base/read-field.ts'

/**
 * How long the service asks to wait before a retry, in milliseconds, from the headers on the client's error:
 * `retry-after-ms`, or `retry-after` in seconds or as a date. Undefined if the service does not say.
 */
export function retryAfterMs(error: unknown, now: number = Date.now()): number | undefined {
  const headers = headersOf(error)
  const ms = positive(Number.parseFloat(header(headers, 'retry-after-ms')))
  if (ms !== undefined) return ms
  const after = header(headers, 'retry-after').trim()
  if (/^\d+(\.\d+)?$/.test(after)) return positive(Number.parseFloat(after) * 1_000)
  // `Date.parse` would accept bare numbers
  return /[a-z]/i.test(after) ? positive(Math.max(Date.parse(after) - now, 0)) : undefined
}

/** Whether the service asks for a retry, by the header `x-should-retry`, which is more specific than a status. */
export function shouldRetry(error: unknown): boolean | undefined {
  const said = header(headersOf(error), 'x-should-retry')
  return said === 'true' ? true : said === 'false' ? false : undefined
}

/** Where clients store the headers of a response; the AI SDK wraps the last of several errors. */
const headersOf = (error: unknown): unknown =>
  readField(error, 'headers') ??
  readField(error, 'responseHeaders') ??
  readField(readField(error, 'response'), 'headers') ??
  readField(readField(error, 'lastError'), 'responseHeaders')

const positive = (ms: number): number | undefined => (Number.isFinite(ms) && ms >= 0 ? ms : undefined)

/** A header of a `Headers` object, or of a plain object with names in any case. */
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
