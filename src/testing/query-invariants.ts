import { cleanIds } from '../messages/clean-ids.ts'
import type { Message } from '../messages/message.ts'
import type { ModelRequest } from '../models/model.ts'
import type { QueryMessage, QueryResult } from '../query/query-message.ts'
import { checkTranscript } from '../transcripts/check-transcript.ts'
import { type BackgroundEvidence, backgroundInvariants } from './background-invariants.ts'
import { firstOf } from './invariant.ts'
import type { TurnEvidence } from './turn-evidence.ts'

/** The evidence that the invariants of a query use. */
export interface QueryEvidence {
  readonly transcript: readonly Message[]
  /** All messages that the reader got. */
  readonly messages: readonly QueryMessage[]
  /** The requests to the model. */
  readonly requests: readonly ModelRequest[]
  /** Each attempt at a reply has its own executor. */
  readonly turns: readonly TurnEvidence[]
  /** The result, once it has ended. */
  readonly result: QueryResult | undefined
  /** The number of requests when it was ended from outside. */
  readonly requestsAtAbort: number | undefined
  readonly hasReaderLeft: boolean
  /** Bodies that run and were not abandoned, of any attempt. */
  readonly running: readonly {
    readonly id: string
    /** Nothing may run beside it. */
    readonly isAlone: boolean
    readonly stopsAtInterrupt: boolean
    readonly isTold: boolean
    /** It has left its turn. */
    readonly isDetached: boolean
  }[]
  /** Calls that were sent to the background. */
  readonly background: readonly BackgroundEvidence[]
  /** The calls whose bodies the story has ended, in that order. */
  readonly ended: readonly string[]
  /** The query's own chart has not ended. */
  readonly isActive: boolean
  /** How it was ended from outside, if it was. */
  readonly endedBy: 'interrupt' | 'abort' | undefined
  /** Messages that the user sent during the query. */
  readonly said: readonly Message[]
  /** Descriptions of what should have been cleaned up by the end. */
  readonly leftovers: readonly string[]
}

/** A condition that must hold in every query. */
export interface QueryInvariant {
  readonly name: string
  /** Returns what is wrong as a sentence, or undefined. */
  check(query: QueryEvidence): string | undefined
}

type Block = { readonly type: string; readonly id?: unknown; readonly tool_use_id?: unknown }

const blocksOf = (messages: readonly QueryMessage[], type: 'assistant' | 'user'): Block[] =>
  messages.flatMap((message) => {
    if (message.type !== type) return []
    const { content } = (message as { message: { content: string | Block[] } }).message
    return typeof content === 'string' ? [] : content
  })

/** L8: the transcript is valid for the API at every moment and after every ending. */
export const transcriptAlwaysValid: QueryInvariant = {
  name: 'the transcript is valid',
  check({ transcript, result }) {
    const checked = checkTranscript(transcript)
    if (checked.ok) return undefined
    const when = result === undefined ? 'on the way' : `after ${result.reason}`
    return `${when}: ${checked.problems.map(({ code }) => code).join(', ')}`
  },
}

/** L8, Y6: each call of the transcript has exactly one result in it. */
export const oneResultPerToolUse: QueryInvariant = {
  name: 'one result per tool_use',
  check({ transcript }) {
    const asked = blocksOf(transcript, 'assistant').flatMap(({ type, id }) => (type === 'tool_use' ? [String(id)] : []))
    const answered = blocksOf(transcript, 'user').flatMap(({ type, tool_use_id: id }) =>
      type === 'tool_result' ? [String(id)] : [],
    )
    const stray = answered.find((id) => !asked.includes(id))
    if (stray !== undefined) return `result for unknown call ${stray}`
    return firstOf(asked, (id) => {
      const count = answered.filter((each) => each === id).length
      return count === 1 ? undefined : `${id} has ${count} results`
    })
  },
}

/** L8: every request to the model is valid. */
export const requestsValid: QueryInvariant = {
  name: 'requests are valid',
  check: ({ requests }) =>
    firstOf(requests, ({ messages }) => {
      // requests contain the original ids; adapters clean them if the service requires it
      const checked = checkTranscript(cleanIds([...messages]))
      return checked.ok ? undefined : checked.problems.map(({ code }) => code).join(', ')
    }),
}

/** A reader that reads to the end has the whole transcript, apart from messages of failed attempts. */
export const readerHasAll: QueryInvariant = {
  name: 'the reader has it all',
  check({ messages, transcript, result, hasReaderLeft }) {
    if (result === undefined || hasReaderLeft) return undefined
    const gone = new Set(messages.flatMap((message) => ('discarded' in message ? (message.discarded as string[]) : [])))
    const kept = messages.flatMap(({ uuid, type }) =>
      (type === 'assistant' || type === 'user') && !gone.has(uuid) ? [uuid] : [],
    )
    const has = new Set(kept)
    const wanted = transcript.slice(1).filter(({ type }) => type === 'assistant' || type === 'user')
    const lost = wanted.find(({ uuid }) => !has.has(uuid))
    if (lost !== undefined) return `the reader never got a message of type ${lost.type} that is in the transcript`
    return kept.length > wanted.length
      ? `the reader got ${kept.length} messages; the transcript has ${wanted.length}`
      : undefined
  },
}

/** A3, A4: after an abort the model is not asked again. */
export const noRequestAfterAbort: QueryInvariant = {
  name: 'no request after an abort',
  check: ({ requests, requestsAtAbort }) =>
    requestsAtAbort !== undefined && requests.length > requestsAtAbort
      ? `the model was asked ${requests.length - requestsAtAbort} more times after the abort`
      : undefined,
}

/** A4: the result names the abort. */
export const endingSaysWhy: QueryInvariant = {
  name: 'the ending says why',
  check: ({ result, requestsAtAbort }) =>
    result !== undefined && requestsAtAbort !== undefined && !result.reason.startsWith('aborted')
      ? `the query was aborted but ended as ${result.reason}`
      : undefined,
}

/** Q4: an unsafe call runs alone, across attempts too. */
export const aloneAcrossAttempts: QueryInvariant = {
  name: 'exclusivity across attempts',
  check({ running }) {
    const inTurns = running.filter(({ isDetached }) => !isDetached)
    return inTurns.length > 1 && inTurns.some(({ isAlone }) => isAlone)
      ? `${inTurns.map(({ id }) => id).join(', ')} run side by side`
      : undefined
  },
}

/** A3, A4: an abort reaches every call it applies to, across attempts too. */
export const abortReachesTools: QueryInvariant = {
  name: 'an abort reaches the tools',
  check: ({ running, endedBy }) =>
    endedBy === undefined
      ? undefined
      : firstOf(running, ({ id, isTold, stopsAtInterrupt }) =>
          isTold || (endedBy === 'interrupt' && !stopsAtInterrupt)
            ? undefined
            : `${id} still runs and its signal is not aborted`,
        ),
}

/** The final transcript contains the user's messages, however the query ends. */
export const nothingSaidIsLost: QueryInvariant = {
  name: 'nothing that was said is lost',
  check({ said, transcript, result }) {
    const kept = new Set(transcript.map(({ uuid }) => uuid))
    return result !== undefined && said.some(({ uuid }) => !kept.has(uuid))
      ? 'a message of the user is missing from the transcript'
      : undefined
  },
}

/** Nothing is left behind when a query is over. */
export const nothingLeftOfQuery: QueryInvariant = {
  name: 'nothing left of the query',
  check: ({ result, leftovers }) => (result !== undefined && leftovers.length > 0 ? leftovers.join('; ') : undefined),
}

/** Conditions that must hold in every query, whatever the model and the tools do. */
export const queryInvariants: readonly QueryInvariant[] = [
  transcriptAlwaysValid,
  oneResultPerToolUse,
  requestsValid,
  readerHasAll,
  noRequestAfterAbort,
  endingSaysWhy,
  aloneAcrossAttempts,
  abortReachesTools,
  nothingSaidIsLost,
  nothingLeftOfQuery,
  ...backgroundInvariants,
]
