import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { classifyModelError, isRetryable, type ModelErrorKind } from '../../src/models/classify-model-error.ts'
import { retryAfterMs, shouldRetry } from '../../src/models/retry-after.ts'

const named = (name: string, rest: object = {}) => Object.assign(new Error('x'), { name, ...rest })
class APIUserAbortError extends Error {}

const unreadable = new Proxy(
  {},
  {
    get() {
      throw new Error('no')
    },
    ownKeys() {
      throw new Error('no')
    },
  },
)

const circular: { cause?: unknown } = {}
circular.cause = circular

const cases: [ModelErrorKind, unknown][] = [
  ['aborted', new DOMException('x', 'AbortError')],
  ['aborted', new APIUserAbortError()],
  ['aborted', { code: 'ABORT_ERR' }],
  ['timeout', new DOMException('x', 'TimeoutError')],
  ['timeout', named('APIConnectionTimeoutError')],
  ['timeout', named('APIConnectionError', { cause: { code: 'ETIMEDOUT' } })],
  ['timeout', Object.assign(new TypeError('fetch failed'), { cause: { code: 'UND_ERR_HEADERS_TIMEOUT' } })],
  ['timeout', { status: 408 }],
  ['connection', named('APIConnectionError')],
  ['connection', { code: 'ECONNRESET' }],
  ['connection', new TypeError('terminated')],
  ['connection', new TypeError('Failed to fetch')],
  ['connection', { message: 'odd', cause: { cause: { code: 'ENOTFOUND' } } }],
  ['overloaded', { status: 529 }],
  ['overloaded', { status: 503 }],
  ['overloaded', { type: 'error', error: { type: 'overloaded_error', message: 'x' } }],
  ['overloaded', { error: { type: 'error', error: { type: 'overloaded_error' } } }],
  ['rate_limited', { status: 429 }],
  ['rate_limited', { code: 'rate_limit_exceeded' }],
  ['rate_limited', { name: 'AI_RetryError', lastError: { statusCode: 429 } }],
  ['server', { status: 500 }],
  ['server', { status: 409 }],
  ['server', { statusCode: 502 }],
  ['server', { type: 'error', error: { type: 'api_error', message: 'x' } }],
  ['server', { type: 'error', error: { type: 'stream_error', message: 'x' } }],
  ['auth', { status: 401, error: { type: 'invalid_request_error' } }],
  ['auth', { status: 403 }],
  ['auth', { status: 429, code: 'insufficient_quota' }],
  ['auth', { statusCode: 429, data: { error: { code: 'insufficient_quota' } } }],
  ['auth', { statusCode: 429, responseBody: '{"error":{"type":"insufficient_quota","code":null}}' }],
  ['auth', { lastError: { statusCode: 429, responseBody: '{"error":{"code":"insufficient_quota"}}' } }],
  ['rate_limited', { statusCode: 429, responseBody: 'not JSON' }],
  ['rate_limited', { error: { code: 429, message: 'Rate limit exceeded' } }],
  ['server', { error: { code: 502, message: 'Provider returned error' } }],
  ['server', { code: '502', message: 'Bad gateway' }],
  ['overloaded', { error: { code: 'server_is_overloaded' } }],
  ['rate_limited', { error: { code: 'slow_down', type: 'service_unavailable_error' } }],
  ['invalid_request', { status: 400 }],
  ['invalid_request', { status: 404 }],
  ['invalid_request', { error: { type: 'invalid_request_error' } }],
  ['unknown', new Error('whatever')],
  ['unknown', undefined],
  ['unknown', null],
  ['unknown', 'fetch failed'],
  ['unknown', 7],
  ['overloaded', { error: { code: 'server_is_overloaded' } }],
  ['overloaded', { code: 529 }],
  ['rate_limited', { code: 'slow_down' }],
  ['rate_limited', { code: 429, message: 'x' }],
  ['rate_limited', { error: { code: '429' } }],
  ['server', { error: { code: 502, type: 'invalid_request_error' } }],
  ['auth', { statusCode: 429, data: { error: { code: 'insufficient_quota', type: 'insufficient_quota' } } }],
  ['unknown', { status: '529', code: 29, name: {} }],
  ['unknown', { name: 'toString', code: 'constructor', type: '__proto__' }],
  ['unknown', circular],
]

describe('the kind of an error', () => {
  it.each(cases)('is %s', (kind, error) => {
    expect(classifyModelError(error)).toBe(kind)
  })

  it('is defined for any value, also an unreadable one', () => {
    expect(classifyModelError(unreadable)).toBe('unknown')
    expect(classifyModelError({ error: unreadable, cause: unreadable })).toBe('unknown')
    fc.assert(
      fc.property(fc.anything(), (error) => {
        expect(typeof classifyModelError(error)).toBe('string')
      }),
    )
  })

  it('says whether the same request may be sent once more', () => {
    const kinds = [...new Set(cases.map(([kind]) => kind))]
    expect(kinds.filter(isRetryable).sort()).toEqual(['connection', 'overloaded', 'rate_limited', 'server', 'timeout'])
  })
})

describe('the retry delay', () => {
  const now = Date.parse('2026-01-01T00:00:00Z')
  it.each([
    [{ headers: new Headers({ 'retry-after': '2' }) }, 2_000],
    [{ headers: { 'Retry-After': '1.5' } }, 1_500],
    [{ headers: { 'retry-after': 3 } }, 3_000],
    [{ headers: { 'retry-after-ms': '250', 'retry-after': '9' } }, 250],
    [{ responseHeaders: { 'retry-after': '4' } }, 4_000],
    [{ response: { headers: new Headers({ 'retry-after': '5' }) } }, 5_000],
    [{ headers: { 'retry-after': 'Thu, 01 Jan 2026 00:00:10 GMT' } }, 10_000],
    [{ headers: { 'retry-after': 'Wed, 31 Dec 2025 00:00:00 GMT' } }, 0],
    [{ headers: { 'retry-after': '-5' } }, undefined],
    [{ headers: { 'retry-after': 'soon' } }, undefined],
    [{ headers: { 'retry-after': '1.2.3' } }, undefined],
    [{ headers: {} }, undefined],
    [undefined, undefined],
    ['retry-after: 3', undefined],
  ])('%j', (error, ms) => {
    expect(retryAfterMs(error, now)).toBe(ms)
  })

  it('is undefined if it cannot be read', () => {
    for (const error of [unreadable, { headers: unreadable }]) expect(retryAfterMs(error)).toBeUndefined()
  })
})

describe('x-should-retry', () => {
  it.each([
    [true, { headers: new Headers({ 'x-should-retry': 'true' }) }],
    [false, { headers: { 'X-Should-Retry': 'false' } }],
    [false, { lastError: { responseHeaders: { 'x-should-retry': 'false' } } }],
    [undefined, { headers: {} }],
    [undefined, unreadable],
  ])('says %s', (said, error) => expect(shouldRetry(error)).toBe(said))
})
