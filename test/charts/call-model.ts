import { type AnyActorRef, createActor, createMachine } from 'xstate'
import { getAdjacencyMap, TestModel } from 'xstate/graph'
import {
  type AbortCause,
  type CallEvent,
  type CallInput,
  callChart,
  type Reclassification,
} from '../../machines/index.ts'
import { type ScriptedCallOptions, scriptedCall } from './scripted-port.ts'

export const cause: AbortCause = { kind: 'user_interrupted', reason: 'escape' }
const stronger: AbortCause = { kind: 'sibling_error', reason: 'sibling_error' }
/** With another class, with other resources, and without a change. */
const changes: (Reclassification | undefined)[] = [{ isSafe: false, keys: undefined }, undefined]
export const graceEnds = { type: 'call.graceEnded' } as const

/** Exhaustive by type: a new event does not compile until it has samples. */
export const samples: { [Type in CallEvent['type']]: Extract<CallEvent, { type: Type }>[] } = {
  'call.start': [{ type: 'call.start' }],
  'call.abort': [
    { type: 'call.abort', cause },
    { type: 'call.abort', cause: stronger },
  ],
  'call.interrupt': [{ type: 'call.interrupt', cause: { ...cause, reason: 'interrupt' } }],
  'call.timedOut': [{ type: 'call.timedOut', cause: { kind: 'timeout', reason: 'timeout', limit: 'total', ms: 1 } }],
  'call.graceEnded': [graceEnds],
  'call.detach': [{ type: 'call.detach', how: { isAwaited: true, onEnd: 'stop' } }],
  'call.yield': [{ type: 'call.yield' }],
  'input.accepted': changes.map((change) => ({ type: 'input.accepted', change })),
  'input.rejected': [true, false].map((cancelsSiblings) => ({
    type: 'input.rejected',
    cancelsSiblings,
    description: '',
  })),
  'permission.allowed': changes.map((change) => ({ type: 'permission.allowed', change })),
  'permission.denied': [true, false].map((stopsTurn) => ({ type: 'permission.denied', stopsTurn })),
  'preHooks.finished': changes.map((change) => ({ type: 'preHooks.finished', change })),
  'permission.pending': [{ type: 'permission.pending' }],
  'permission.deferred': [{ type: 'permission.deferred' }],
  'permission.undecided': [{ type: 'permission.undecided' }],
  'tool.settled': [
    { type: 'tool.settled', end: 'returned', willRetry: false, needsFormatting: true },
    { type: 'tool.settled', end: 'failed', willRetry: false, needsFormatting: false },
    { type: 'tool.settled', end: 'failed', willRetry: true, needsFormatting: true },
  ],
  'body.sent': [{ type: 'body.sent' }],
  'body.pickedUp': [{ type: 'body.pickedUp' }],
  'retry.due': [{ type: 'retry.due' }],
  'locks.granted': [{ type: 'locks.granted' }],
  'start.journaled': [{ type: 'start.journaled' }],
  'start.failed': [{ type: 'start.failed' }],
  'call.recovered': [{ type: 'call.recovered' }],
  'outcome.unknown': [true, false].map((cancelsSiblings) => ({
    type: 'outcome.unknown',
    cancelsSiblings,
    description: '',
  })),
  'result.recorded': [{ type: 'result.recorded' }],
  'result.unrecorded': [{ type: 'result.unrecorded' }],
  'postHooks.finished': [{ type: 'postHooks.finished' }],
  'result.formatted': [true, false].map((cancelsSiblings) => ({
    type: 'result.formatted',
    cancelsSiblings,
    description: '',
  })),
}

/** Calls of every kind that the guards of the chart distinguish. */
export const callKinds: Record<string, Omit<ScriptedCallOptions, 'id'>> = {
  'plain call': {},
  'call that yields to an interrupt': { yieldsToInterrupt: true },
  'call that is validated': { needsValidation: true, yieldsToInterrupt: true },
  'call that asks': { needsAsking: true },
  'call that asks, and whose place is taken': { needsAsking: true, hasPlace: () => false },
  'call that is validated, hooked and asked about, and goes on with other keys': {
    needsValidation: true,
    needsPreHooks: true,
    needsAsking: true,
    mustQueueAgain: () => false,
  },
  'call that is decided': { needsDeciding: true },
  'call that is decided twice': { needsDeciding: true, mayBeForbidden: true },
  'call with hooks': { needsPreHooks: true, needsPostHooks: true, yieldsToInterrupt: true },
  'call that is validated, and asks': { needsValidation: true, needsAsking: true },
  'call with hooks that asks': { needsPreHooks: true, needsAsking: true },
  'call with every phase': {
    needsValidation: true,
    needsPreHooks: true,
    needsDeciding: true,
    needsAsking: true,
    needsPostHooks: true,
  },
  'call that runs elsewhere': { runsElsewhere: true, yieldsToInterrupt: true, canDetach: true },
  'call that can go to the background': { canDetach: true },
  'call that can go to the background and is recorded': { canDetach: true, needsRecording: () => true },
  'call that shares its keys': { needsLocking: true, yieldsToInterrupt: true },
  'call that asks, shares its keys and is recorded': { needsAsking: true, needsLocking: true, needsJournaling: true },
  'call that is decided and shares its keys': { needsDeciding: true, needsLocking: true },
  'call with hooks that is validated and shares its keys': {
    needsValidation: true,
    needsPreHooks: true,
    needsLocking: true,
  },
  'call that is validated and shares its keys': { needsValidation: true, needsLocking: true },
  'call that is recovered and shares its keys': { needsRecovery: true, needsLocking: true },
  'answered call': { isAnswered: true },
  'call that is recorded': { needsJournaling: true, needsRecording: () => true },
  'call with hooks that is validated and recorded': {
    needsValidation: true,
    needsPreHooks: true,
    needsJournaling: true,
  },
  'call that is validated and recorded': { needsValidation: true, needsJournaling: true },
  'call that asks and is recorded': { needsAsking: true, needsJournaling: true },
  'call that is decided and recorded': { needsDeciding: true, needsJournaling: true, yieldsToInterrupt: true },
  'call with hooks that is recovered': { needsRecovery: true, needsPostHooks: true, yieldsToInterrupt: true },
  'call that is recovered': { needsRecovery: true },
  'call whose result the log has': { isAnswered: true, isRecorded: true },
}

/** Only a body that runs elsewhere moves: for all others, the paths would be the same five times over. */
const samplesFor = ({ runsElsewhere }: Omit<ScriptedCallOptions, 'id'>): CallEvent[] =>
  Object.values(samples)
    .flat()
    .filter(({ type }) => runsElsewhere === true || !type.startsWith('body.'))

const parentMachine = createMachine({})

type Seen = {
  value: unknown
  context: { cause?: unknown; ending?: unknown; isHooked: boolean; isPermitted: boolean }
}

function serialized({ value, context: { cause: held, ending, isHooked, isPermitted } }: Seen): string {
  return JSON.stringify([value, held, ending, isHooked, isPermitted])
}

/** The call chart itself as the model, for one kind of call. */
const optionsOf = (kind: Omit<ScriptedCallOptions, 'id'>) => ({
  input: {
    call: scriptedCall({ id: 'c', ...kind }),
    executor: createActor(parentMachine).start() as AnyActorRef,
  } satisfies CallInput,
  events: samplesFor(kind) as never,
  serializeState: serialized as never,
})

const callModel = (kind: Omit<ScriptedCallOptions, 'id'>) =>
  new TestModel<never, never, CallInput>(callChart() as never, optionsOf(kind) as never)

/** A way through the chart that visits no state twice. */
export interface SimplePath {
  readonly steps: readonly { readonly event: CallEvent; readonly value: unknown }[]
  /** So many of its first steps are those of the path before it. */
  readonly known: number
}

/**
 * Every longest simple path of a call. `TestModel.getSimplePaths()` finds the same, but serializes each state again on
 * every path.
 */
export function* simplePaths(kind: Omit<ScriptedCallOptions, 'id'>): Generator<SimplePath> {
  type Adjacency = Record<string, { transitions: Record<string, { event: unknown; state: unknown }> }>
  const map = getAdjacencyMap(callChart() as never, optionsOf(kind) as never) as unknown as Adjacency
  const edges = new Map(
    Object.entries(map).map(([key, { transitions }]) => [
      key,
      Object.values(transitions).map(({ event, state }) => ({
        step: { event: event as CallEvent, value: (state as Seen).value },
        to: serialized(state as Seen),
      })),
    ]),
  )
  const steps: SimplePath['steps'][number][] = []
  const visited = new Set<string>()
  let known = 0
  function* from(key: string): Generator<SimplePath> {
    visited.add(key)
    let isEnd = true
    for (const { step, to } of edges.get(key) ?? []) {
      if (visited.has(to)) continue
      isEnd = false
      steps.push(step)
      yield* from(to)
      steps.pop()
      known = Math.min(known, steps.length)
    }
    if (isEnd) {
      yield { steps: [...steps], known }
      known = steps.length
    }
    visited.delete(key)
  }
  const [first] = edges.keys()
  yield* from(first as string)
}

/** Every event in every state: the shortest path there, then the event. Simple paths have no loops. */
export function everyEdge(kind: Omit<ScriptedCallOptions, 'id'>): CallEvent[][] {
  const ways = callModel(kind).getShortestPaths({ allowDuplicatePaths: true })
  const eventsOf = (way: (typeof ways)[number]) =>
    way.steps.map(({ event }) => event as CallEvent).filter(({ type }) => (type as string) !== 'xstate.init')
  return ways.flatMap((way) => samplesFor(kind).map((event) => [...eventsOf(way), event]))
}
