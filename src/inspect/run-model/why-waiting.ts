import type { Refusal } from '../../../machines/index.ts'
import type { LocksFrame, LocksHolder, PlaceFrame, WaitGroup } from '../frames/frame.ts'
import type { CallIn } from './run-listener.ts'
import type { RunState } from './run-state.ts'

/** Labels for a call whose run was discarded: its result is never handed over. */
export const givenUp = { short: 'discarded', long: 'discarded with the reply that requested it' } as const

/** The one table of sentences for why a call waits. Each continues the name of the call. */
const sentences: Readonly<Record<Refusal, (words: Words) => string>> = {
  // a query releases a call when the reply has gone past it
  held: ({ isInQuery }) => (isInQuery ? 'waits until the reply has gone past it' : 'waits to be released'),
  exclusiveRunning: ({ names }) => `waits for ${names}, which must run alone`,
  behindUnsafe: ({ names }) => `waits behind ${names}, which must run alone`,
  waitsForRunning: ({ names }) => `must run alone, waits for ${names}`,
  // the key is that of the first
  resource: ({ names, key, isMany }) => `waits for ${names}, ${isMany ? 'the first of which' : 'which'} uses ${key}`,
  full: ({ slots }) => `waits for a free slot${slots}`,
  discarded: () => givenUp.long,
}

interface Words {
  readonly names: string
  readonly isMany: boolean
  readonly slots: string
  readonly key: string
  readonly isInQuery: boolean
}

export interface WaitingIn {
  /** Null: no limit. */
  readonly maxConcurrency: number | null
  /**
   * Whether a query decides when a held call may start.
   * @default false
   */
  readonly isInQuery?: boolean | undefined
  /** A call's display name, such as `#1 Read`; undefined for an unknown call. */
  nameOf(call: string): string | undefined
}

/** Why a call waits, as a sentence that continues its name: `must run alone, waits for #1 Read and #2 Grep`. */
export function whyWaiting(
  { because, blockers, key }: { readonly because: string; readonly blockers: readonly string[]; readonly key?: string },
  { maxConcurrency, isInQuery = false, nameOf }: WaitingIn,
): string {
  if (!Object.hasOwn(sentences, because)) return `waits (${because})`
  return sentences[because as Refusal]({
    names: listOf(blockers.flatMap((id) => nameOf(id) ?? [])),
    isMany: blockers.length > 1,
    slots: maxConcurrency === null ? '' : `: ${maxConcurrency} of ${maxConcurrency} in use`,
    key: key === '*' ? 'everything' : (key ?? 'the same resource'),
    isInQuery,
  })
}

/** The state of a connection's chart in words. */
export const serverStateWords = (state: string): string => (state === 'backingOff' ? 'backing off' : state)

const maxProblem = 200

/** Why a call that already runs waits for the connection it was made for. */
export function whyWaitingForServer(name: string, state: string, problem = ''): string {
  const because = problem === '' || state === 'ready' ? '' : `: ${problem.slice(0, maxProblem)}`
  return `waits for the server ${name} (${serverStateWords(state)}${because})`
}

/** Why a call whose body was sent elsewhere does not run yet. */
export function whyWaitingForWorker({ waiting }: Pick<PlaceFrame, 'waiting'>): string {
  const depth = waiting === 1 ? '; one call waits in the queue' : `; ${waiting} calls wait in the queue`
  return `waits for a worker${waiting === null ? '' : depth}`
}

const maxKey = 200

/** Why a call that already runs waits for a key that other executors use too. */
export function whyWaitingForKey({ key, holders }: Pick<LocksFrame, 'key' | 'holders'>): string {
  const named = key === null ? 'a key' : `key ${key.slice(0, maxKey)}`
  const names = listOf(holders.map(holderWords))
  return holders[0]?.isWaiting === true ? `waits for ${named} behind ${names}` : `waits for ${named}, held by ${names}`
}

const holderWords = ({ name, call, agent, session }: LocksHolder): string =>
  [
    `${name} (${call})`,
    ...(agent === undefined ? [] : [`inside ${agent}`]),
    ...(session === undefined ? [] : [`of session ${session}`]),
  ].join(' ')

const maxNamed = 3

function listOf(names: readonly string[]): string {
  if (names.length === 0) return 'another call'
  if (names.length === 1) return `${names[0]}`
  const shown = names.slice(0, maxNamed)
  if (names.length > maxNamed) return `${shown.join(', ')} and ${names.length - maxNamed} more`
  return `${shown.slice(0, -1).join(', ')} and ${shown.at(-1)}`
}

/** Why the call at this index waits; undefined if it does not. */
export const waitOf = ({ waits }: Pick<RunState, 'waits'>, index: number): WaitGroup | undefined =>
  waits.find(({ calls }) => calls.some(([from, to]) => from <= index && index <= to))

/** Visits the waiting calls, group by group. */
export function eachWaiting<Run extends Pick<RunState, 'waits' | 'calls'>>(
  { waits, calls }: Run,
  see: (call: CallIn<Run & RunState>, group: WaitGroup) => void,
): void {
  for (const group of waits) {
    for (const [from, to] of group.calls) {
      // ranges are untrusted: stop at the last call
      const last = Math.min(to, calls.length - 1)
      for (let index = from; index <= last; index++) see(calls[index] as CallIn<Run & RunState>, group)
    }
  }
}
