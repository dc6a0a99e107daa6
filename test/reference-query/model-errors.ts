import { type ErrorWord, idleMs } from './story.ts'

const facts: Record<ErrorWord, { fields: object; event: string; kind: string; eventKind: string }> = {
  overloaded: { fields: { status: 529 }, event: 'overloaded_error', kind: 'overloaded', eventKind: 'overloaded' },
  connection: { fields: { code: 'ECONNRESET' }, event: 'api_error', kind: 'connection', eventKind: 'server' },
  fatal: {
    fields: { status: 400 },
    event: 'invalid_request_error',
    kind: 'invalid_request',
    eventKind: 'invalid_request',
  },
  // the service asks for a delay of an hour; an event has no headers for that
  later: {
    fields: { status: 429, headers: { 'retry-after': '3600' } },
    event: 'rate_limit_error',
    kind: 'rate_limited',
    eventKind: 'rate_limited',
  },
}

export const errorOf = (word: ErrorWord): Error & { readonly asEvent: { type: string; message: string } } =>
  Object.assign(new Error(word), facts[word].fields, { asEvent: { type: facts[word].event, message: word } })

const kindOf = (word: ErrorWord, asEvent: boolean): string => facts[word][asEvent ? 'eventKind' : 'kind']

/** How a stream failed; `cut` just ended, `stall` fell silent. */
export interface Failure {
  readonly word: ErrorWord | 'cut' | 'stall'
  readonly asEvent: boolean
}

export function judged({ word, asEvent }: Failure): { kind: string; isFatal: boolean; isLong: boolean } {
  if (word === 'cut') return { kind: 'connection', isFatal: false, isLong: false }
  if (word === 'stall') return { kind: 'timeout', isFatal: false, isLong: false }
  return { kind: kindOf(word, asEvent), isFatal: word === 'fatal', isLong: word === 'later' && !asEvent }
}

export function errorText({ word }: Failure): string {
  if (word === 'cut') return "The model's stream ended before its reply was complete."
  if (word === 'stall') return `The model was silent for more than ${idleMs} ms.`
  return word
}
