import { unknownOption } from '../../base/invalid-option.ts'
import {
  aFunction,
  anObject,
  checkOption,
  type OptionRule,
  positiveMilliseconds,
  requireOption,
} from '../../base/option-rules.ts'
import { isRecord, readField } from '../../base/read-field.ts'
import type { QueryMessage } from '../query-message.ts'
import type { SessionQuestion } from './question-book.ts'
import type { Session, SessionStatus } from './session.ts'

export interface SessionResponseOptions {
  /**
   * What the browser gets of a message; undefined leaves it out.
   * @default the message without `toolUseResult`, the raw data of a tool
   */
  show?: ((message: QueryMessage) => unknown) | undefined
  /**
   * How often a connection without messages gets a comment, so that proxies keep it open. `Infinity`: never.
   * @default 15_000
   */
  keepAliveMs?: number | undefined
}

/** Those of a web request, or of one of `node:http`. */
type RequestHeaders =
  | { get(name: string): string | null }
  | { readonly [name: string]: string | readonly string[] | undefined }

/** What the event `state` has as its data. */
export interface SessionState {
  readonly status: SessionStatus
  readonly questions: readonly SessionQuestion[]
}

/**
 * A session as server-sent events, for an `EventSource`, which connects again by itself: the messages, and the status with
 * the open questions. The header `Last-Event-ID` of the request says where to go on.
 *
 * @example
 * app.get('/chat', ({ req }) => sessionResponse(session, req.raw))
 */
export function sessionResponse(
  session: Session,
  request: { readonly headers: RequestHeaders; readonly method?: string | undefined },
  options: SessionResponseOptions = {},
): Response {
  checkArguments(session, request, options)
  const { show = withoutRawData, keepAliveMs = 15_000 } = options
  const after = lastEventId(request.headers)
  const view = session.messages({ after })
  const waiting: string[] = after !== undefined && view.isWhole ? [event('reset', '{}')] : []
  let isChanged = true
  let wake = (): void => undefined
  let isReading = false
  let arrived: Awaited<ReturnType<typeof view.next>> | undefined
  /** Wakes whoever waits. A race with `next()` would keep something of each wait until the next message, days later. */
  const read = async (): Promise<void> => {
    isReading = true
    arrived = await view.next()
    isReading = false
    wake()
  }
  // messages that are here go first: a question follows the call that asks
  const wakeSoon = (): void => void setTimeout(() => wake(), 0)
  const change = (): void => {
    isChanged = true
    wakeSoon()
  }
  let leave: (() => void)[] = []
  // a response that nobody reads leaves nothing behind
  const begin = (): void => {
    const beat = (): void => {
      // a reader that does not keep up needs no sign of life
      if (waiting.length === 0) waiting.push(':\n\n')
      wake()
    }
    // a timer fires at once if its delay is more than it supports
    const timer = keepAliveMs < 2 ** 31 ? setInterval(beat, keepAliveMs) : undefined
    const types = ['question_opened', 'question_closed', 'run_started', 'run_ended'] as const
    leave = [() => clearInterval(timer), ...types.map((type) => session.on(type, change))]
  }
  const end = (): void => {
    for (const stop of leave.splice(0)) stop()
    void view.return()
  }

  /** The next part of the stream; undefined at its end. */
  async function part(): Promise<string | undefined> {
    for (;;) {
      const first = waiting.shift()
      if (first !== undefined) return first
      if (arrived === undefined) {
        if (!isReading) void read()
        await new Promise<void>((resolve) => {
          wake = resolve
          if (isChanged) wakeSoon()
        })
      }
      const step = arrived
      arrived = undefined
      if (step === undefined && isChanged && waiting.length === 0) {
        isChanged = false
        const state: SessionState = { status: session.status, questions: session.questions() }
        return event('state', JSON.stringify(state))
      }
      if (step === undefined) continue
      if (step.done === true) return undefined
      const text = messageEvent(step.value, show)
      if (text !== undefined) return text
    }
  }

  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        if (leave.length === 0) begin()
        const text = await part().catch((error: unknown) => {
          end()
          throw error
        })
        if (text !== undefined) return controller.enqueue(encoder.encode(text))
        end()
        controller.close()
      },
      cancel: end,
    },
    { highWaterMark: 0 },
  )
  // a server sends no body to `HEAD`, and one of node:http would wait for its end before it sends the headers
  return new Response(request.method === 'HEAD' ? '' : body, { headers: eventStream })
}

const eventStream = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  // nginx keeps back what it proxies until a buffer is full
  'x-accel-buffering': 'no',
}

const aSession: OptionRule = [
  (value) => typeof readField(value, 'messages') === 'function',
  'a session, not a promise of one',
]
const aRequest: OptionRule = [(value) => isRecord(readField(value, 'headers')), 'a request with headers']
const rules = { show: aFunction, keepAliveMs: positiveMilliseconds } satisfies {
  [Name in keyof SessionResponseOptions]: OptionRule
}

function checkArguments(session: unknown, request: unknown, options: SessionResponseOptions): void {
  requireOption('session', session, aSession)
  requireOption('request', request, aRequest)
  requireOption('options', options, anObject)
  for (const [name, value] of Object.entries(options)) {
    if (!Object.hasOwn(rules, name)) unknownOption(name, Object.keys(rules))
    checkOption(name, value, rules[name as keyof typeof rules])
  }
}

function lastEventId(headers: RequestHeaders): string | undefined {
  const given = typeof headers.get === 'function' ? headers.get('last-event-id') : headers['last-event-id' as never]
  return typeof given === 'string' && given !== '' ? given : undefined
}

/** Only messages of the conversation are known to the next process, so only they have an id to go on from. */
function messageEvent(message: QueryMessage, show: (message: QueryMessage) => unknown): string | undefined {
  const shown = show(message)
  if (shown === undefined) return undefined
  if (message.type !== 'user' && message.type !== 'assistant') return eventOrNone(shown)
  const { type, uuid, message: said } = message
  return eventOrNone(shown, uuid) ?? event('message', JSON.stringify({ type, uuid, message: said }), uuid)
}

/** Undefined for what is no JSON, such as a report of a tool with a cycle: a browser that comes back would fail again. */
function eventOrNone(shown: unknown, id?: string): string | undefined {
  try {
    // undefined for a function, for example
    const json: string | undefined = JSON.stringify(shown)
    return json && event('message', json, id)
  } catch {
    return undefined
  }
}

function event(name: string, json: string, id?: string): string {
  // a uuid may come from outside: with a line break, it would be fields and events of its own
  const isId = id !== undefined && !/[\0\r\n]/.test(id)
  const lines = [...(isId ? [`id: ${id}`] : []), `event: ${name}`, `data: ${json}`]
  return `${lines.join('\n')}\n\n`
}

function withoutRawData(message: QueryMessage): unknown {
  if (message.type !== 'user' || !('toolUseResult' in message)) return message
  const { toolUseResult: _, ...shown } = message
  return shown
}
