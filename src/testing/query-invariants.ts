import { cleanIds } from '../messages/clean-ids.ts'
import type { Message } from '../messages/message.ts'
import type { ModelRequest } from '../model/model.ts'
import type { QueryMessage } from '../query/query-message.ts'
import type { QueryResult } from '../query/query-run.ts'
import { checkTranscript } from '../transcript/check-transcript.ts'
import { firstOf } from './first-of.ts'
import type { TurnEvidence } from './turn-evidence.ts'

/** What is known of a query: what its invariants look at. */
export interface QueryEvidence {
  readonly transcript: readonly Message[]
  /** All that the reader got. */
  readonly messages: readonly QueryMessage[]
  /** What the model was asked. */
  readonly requests: readonly ModelRequest[]
  /** Each attempt at a reply has its own executor. */
  readonly turns: readonly TurnEvidence[]
  /** How it ended, once it has. */
  readonly result: QueryResult | undefined
  /** How many requests there were when somebody ended it. */
  readonly requestsAtAbort: number | undefined
  readonly hasReaderLeft: boolean
  /** Bodies that run and were not given up, in whichever attempt. */
  readonly running: readonly {
    readonly id: string
    readonly isSafe: boolean
    readonly stopsAtInterrupt: boolean
    readonly isTold: boolean
  }[]
  /** Who ended it, if somebody did. */
  readonly endedBy: 'interrupt' | 'abort' | undefined
  /** What the user said on the way. */
  readonly said: readonly Message[]
  /** What should have been cleared away by the end, in words. */
  readonly leftovers: readonly string[]
}

/** Something that must hold of every query. */
export interface QueryInvariant {
  readonly name: string
  /** What is wrong, in a sentence; nothing where all is well. */
  check(query: QueryEvidence): string | undefined
}

type Block = { readonly type: string; readonly id?: unknown; readonly tool_use_id?: unknown }

const blocksOf = (messages: readonly QueryMessage[], type: 'assistant' | 'user'): Block[] =>
  messages.flatMap((message) => {
    if (message.type !== type) return []
    const { content } = (message as { message: { content: string | Block[] } }).message
    return typeof content === 'string' ? [] : content
  })

/** L8: the transcript is something that the API takes, at every moment and after every ending. */
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
    if (stray !== undefined) return `there is a result for ${stray}, which nobody asked for`
    return firstOf(asked, (id) => {
      const count = answered.filter((each) => each === id).length
      return count === 1 ? undefined : `${id} has ${count} results`
    })
  },
}

/** L8: whatever is sent to the model is something that it takes. */
export const requestsValid: QueryInvariant = {
  name: 'requests are valid',
  check: ({ requests }) =>
    firstOf(requests, ({ messages }) => {
      // a model gets the ids that came, and its adapter cleans them where the service wants that
      const checked = checkTranscript(cleanIds([...messages]))
      return checked.ok ? undefined : checked.problems.map(({ code }) => code).join(', ')
    }),
}

/** Who reads to the end has the transcript, once the messages of attempts that failed are taken out. */
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
    if (lost !== undefined) return `the transcript has a message of type ${lost.type} that the reader never got`
    return kept.length > wanted.length
      ? `the reader got ${kept.length} messages, and ${wanted.length} count`
      : undefined
  },
}

/** A3, A4: who ended it is not asked for more. */
export const noRequestAfterAbort: QueryInvariant = {
  name: 'no request after an abort',
  check: ({ requests, requestsAtAbort }) =>
    requestsAtAbort !== undefined && requests.length > requestsAtAbort
      ? `the model was asked ${requests.length - requestsAtAbort} times more`
      : undefined,
}

/** A4: whoever ended it is named by the ending. */
export const endingSaysWhy: QueryInvariant = {
  name: 'the ending says why',
  check: ({ result, requestsAtAbort }) =>
    result !== undefined && requestsAtAbort !== undefined && !result.reason.startsWith('aborted')
      ? `it was aborted, and ended as ${result.reason}`
      : undefined,
}

/** Q4: an unsafe call runs alone, whichever attempts its neighbours belong to. */
export const aloneAcrossAttempts: QueryInvariant = {
  name: 'exclusivity across attempts',
  check: ({ running }) =>
    running.length > 1 && running.some(({ isSafe }) => !isSafe)
      ? `${running.map(({ id }) => id).join(', ')} run side by side`
      : undefined,
}

/** A3, A4: who is meant by an abort is told, whichever attempt it belongs to. */
export const abortReachesTools: QueryInvariant = {
  name: 'an abort reaches the tools',
  check: ({ running, endedBy }) =>
    endedBy === undefined
      ? undefined
      : firstOf(running, ({ id, isTold, stopsAtInterrupt }) =>
          isTold || (endedBy === 'interrupt' && !stopsAtInterrupt) ? undefined : `${id} runs on, and nobody told it`,
        ),
}

/** What the user says is in the transcript in the end, whatever becomes of the query. */
export const nothingSaidIsLost: QueryInvariant = {
  name: 'nothing that was said is lost',
  check({ said, transcript, result }) {
    const kept = new Set(transcript.map(({ uuid }) => uuid))
    return result !== undefined && said.some(({ uuid }) => !kept.has(uuid))
      ? 'the transcript does not have what the user said'
      : undefined
  },
}

/** Nothing is left when a query is over. */
export const nothingLeftOfQuery: QueryInvariant = {
  name: 'nothing left of the query',
  check: ({ result, leftovers }) => (result !== undefined && leftovers.length > 0 ? leftovers.join('; ') : undefined),
}

/** What has to hold of every query, whatever the model and the tools do. */
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
]
