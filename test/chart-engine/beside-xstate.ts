import {
  type ActorSystem,
  type AnyActor,
  type AnyActorRef,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  type AnyTransitionDefinition,
  createActor,
  createMachine,
  type InspectionEvent,
  SimulatedClock,
} from 'xstate'
import { compileChart } from '../../src/chart-engine/compile-chart.ts'
import { TableActor } from '../../src/chart-engine/table-actor.ts'
import { createTableRoot } from '../../src/chart-engine/table-root.ts'

/** All visible properties of a snapshot. */
function viewOf(snapshot: AnyMachineSnapshot): unknown {
  const { value, context, status, output, error, tags, children, _nodes } = snapshot
  return {
    // as text, because the order of regions matters
    value: JSON.stringify(value),
    context: plain(context),
    status,
    output: plain(output),
    error: error instanceof Error ? `${error.name}: ${error.message}` : plain(error),
    tags: [...(tags ?? [])],
    children: Object.keys(children ?? {}),
    nodes: _nodes?.map(({ id }) => id),
    meta: _nodes && snapshot.getMeta(),
  }
}

const isActor = (value: unknown): value is AnyActorRef => typeof (value as AnyActorRef)?.sessionId === 'string'

/** Actors as their ids, functions as such, and the contents of events and parameters. */
export function plain(value: unknown): unknown {
  if (isActor(value)) return `actor ${value.id}`
  if (typeof value === 'function') return 'a function'
  if (value instanceof Error) return `${value.name}: ${value.message}`
  if (Array.isArray(value)) return value.map(plain)
  if (typeof value !== 'object' || value === null) return value
  if ('_nodes' in value) return 'a snapshot'
  if (Object.getPrototypeOf(value) !== Object.prototype) return value.constructor.name
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, plain(each)]))
}

const nameOf = ({ source, eventType, target }: AnyTransitionDefinition) =>
  `${source.id} ${eventType} ${target?.map(({ id }) => id).join() ?? '(stays)'}`

function toldOf(event: InspectionEvent): unknown[] {
  const who = (event.actorRef as AnyActorRef | undefined)?.id
  switch (event.type) {
    case '@xstate.event':
      return [event.type, who, (event.sourceRef as AnyActorRef | undefined)?.id, plain(event.event)]
    case '@xstate.action':
      return [event.type, who, event.action.type, plain(event.action.params)]
    case '@xstate.microstep':
      return [event.type, who, plain(event.event), event._transitions.map(nameOf), viewOf(event.snapshot as never)]
    case '@xstate.snapshot':
      return [event.type, who, plain(event.event), viewOf(event.snapshot as never)]
    default:
      return [event.type, who]
  }
}

export interface Observed {
  /** The log of the machine's own guards and actions. */
  readonly trace: unknown[]
  readonly told: unknown[]
  readonly views: unknown[]
}

/** All inputs of an actor: events, and time that passes. */
export type Act = { readonly type: string } | number

export interface Runner {
  readonly isInspected: boolean
  /** Creates an actor without starting it; `inspect` is called first. */
  make(machine: AnyStateMachine, clock: SimulatedClock, log: (...words: unknown[]) => void, inspect: Inspect): AnyActor
}
type Inspect = (event: InspectionEvent) => void

const parentChart = createMachine({ id: 'parent' })
const makeChild = createActor as unknown as (machine: AnyStateMachine, options: object) => AnyActor

function parentOf(clock: SimulatedClock, logger: (...words: unknown[]) => void, inspect: Inspect): AnyActorRef {
  const parent = createActor(parentChart, { id: 'parent', clock, logger }).start()
  // a child's error becomes its parent's, and is compared
  parent.subscribe({ error: () => undefined })
  ;(parent.system as ActorSystem<never>).inspect(inspect)
  return parent as unknown as AnyActorRef
}

/** The same machine as a root and as a child, on XState and on the table, with and without observers. */
export const runners = {
  xstate: {
    isInspected: true,
    make: (machine, clock, logger, inspect) => createActor(machine, { id: 'it', input: 1, clock, logger, inspect }),
  },
  compiled: {
    isInspected: true,
    make: (machine, clock, logger, inspect) =>
      createActor(compileChart(machine), { id: 'it', input: 1, clock, logger, inspect }),
  },
  root: {
    isInspected: true,
    make: (machine, clock, logger, inspect) =>
      createTableRoot(compileChart(machine), { id: 'it', input: 1, clock, logger, inspect }),
  },
  rootAlone: {
    isInspected: false,
    make: (machine, clock, logger) => createTableRoot(compileChart(machine), { id: 'it', input: 1, clock, logger }),
  },
  xstateChild: {
    isInspected: true,
    make: (machine, clock, logger, inspect) =>
      makeChild(machine, { parent: parentOf(clock, logger, inspect), id: 'it', input: 1 }),
  },
  leanChild: {
    isInspected: true,
    make: (machine, clock, logger, inspect) =>
      new TableActor(compileChart(machine), parentOf(clock, logger, inspect), 'it', 1) as unknown as AnyActor,
  },
} satisfies Record<string, Runner>

/** Runs a machine through the inputs and records everything visible. */
export function observe(
  { make }: Runner,
  machine: (trace: unknown[]) => AnyStateMachine,
  acts: readonly Act[],
): Observed {
  const trace: unknown[] = []
  const told: unknown[] = []
  const views: unknown[] = []
  const clock = new SimulatedClock()
  const actor = make(
    machine(trace),
    clock,
    (...words) => trace.push(['logged', ...words]),
    (event) => told.push(toldOf(event)),
  )
  actor.on('emitted', (event: unknown) => trace.push(['emitted', plain(event)]))
  actor.subscribe({
    error: (error: unknown) => trace.push(['error', plain(error)]),
    complete: () => trace.push('over'),
  })
  views.push(viewOf(actor.getSnapshot() as never))
  actor.start()
  views.push(viewOf(actor.getSnapshot() as never))
  for (const act of acts) {
    if (actor.getSnapshot().status !== 'active') break
    if (typeof act === 'number') clock.increment(act)
    else actor.send(act as never)
    views.push(viewOf(actor.getSnapshot() as never))
  }
  return { trace, told, views }
}
