import {
  type ActorOptions,
  type AnyActorRef,
  type AnyMachineSnapshot,
  type AnyStateMachine,
  assign,
  enqueueActions,
  type InspectionEvent,
  raise,
  sendTo,
  setup,
} from 'xstate'
import type { ChartEngine } from './chart-engine.ts'
import { missingMembers } from './xstate-internals.ts'

/**
 * Tests whether the table engine works with the installed version of XState. The engine uses unpublished members, which a
 * new version may rename or change. They must exist; then a small chart with every feature that the project's charts use
 * runs on both engines, and all observable results must be the same.
 */
export function runsLike(engine: ChartEngine, reference: ChartEngine): { readonly because?: string } {
  try {
    const missing = missingMembers(reference.createRoot(childChart(), {}))
    if (missing.length > 0) return { because: `it has no ${missing.join(', ')}` }
    const [seen, expected] = [observed(engine), observed(reference)]
    if (seen === expected) return {}
    return { because: `a chart ran differently: ${firstDifference(seen, expected)}` }
  } catch (error) {
    return { because: String(error) }
  }
}

interface Context {
  readonly log: readonly string[]
  readonly child: AnyActorRef | undefined
  readonly n: number
}

const note = (word: string) => ({ type: 'note', params: word }) as const

/** Covers parallel and compound states, guards, eventless transitions, a final state, assign, sendTo, enqueue and raise. */
function trialChart(createChild: (parent: AnyActorRef) => AnyActorRef): AnyStateMachine {
  return setup({
    types: { context: {} as Context, events: {} as { type: string; by?: number } },
    guards: { isBelow: ({ context }, bound: number) => context.n < bound },
    actions: {
      note: assign({ log: ({ context }, word: string) => [...context.log, word] }),
      add: assign(({ context }, by: number) => ({ n: context.n + by })),
      hire: enqueueActions(({ enqueue, self }) => {
        const child = createChild(self as AnyActorRef)
        child.start()
        enqueue.assign({ child })
        enqueue.sendTo(child, { type: 'work' })
      }),
      ask: sendTo(({ context, self }) => context.child ?? self, { type: 'work' }),
      more: raise({ type: 'more' }),
    },
  }).createMachine({
    id: 'trial',
    type: 'parallel',
    context: { log: [], child: undefined, n: 0 },
    states: {
      left: {
        initial: 'idle',
        entry: note('left'),
        on: { more: { actions: note('more') } },
        states: {
          idle: {
            tags: 'calm',
            exit: note('idle out'),
            on: { go: { target: 'busy.deep', actions: ['hire', note('go')] } },
          },
          busy: {
            entry: note('busy'),
            initial: 'shallow',
            states: { shallow: {}, deep: { entry: note('deep'), on: { ask: { actions: ['ask', 'more'] } } } },
            on: { again: { target: 'busy', reenter: true }, end: 'over' },
          },
          over: { type: 'final' },
        },
      },
      right: {
        initial: 'low',
        states: {
          low: {
            always: [
              { guard: { type: 'isBelow', params: 3 }, actions: { type: 'add', params: 1 } },
              { target: 'high' },
            ],
          },
          high: { on: { end: 'over', add: { actions: { type: 'add', params: ({ event }) => event.by ?? 0 } } } },
          over: { type: 'final' },
        },
      },
    },
  }) as unknown as AnyStateMachine
}

const childChart = (): AnyStateMachine =>
  setup({}).createMachine({
    id: 'worker',
    initial: 'idle',
    context: ({ input }) => ({ input }),
    states: { idle: { on: { work: 'done' } }, done: { on: { work: 'gone' } }, gone: { type: 'final' } },
  }) as unknown as AnyStateMachine

/** Everything that a subscriber and an inspector see, as text. */
function observed(engine: ChartEngine): string {
  const seen: unknown[] = []
  const failures: unknown[] = []
  // what nobody catches, XState throws again in a timer, which would end the process
  const see = (view: () => unknown): void => {
    try {
      seen.push(view())
    } catch (error) {
      failures.push(error)
    }
  }
  const worker = childChart()
  const chart = trialChart((parent) => engine.createChild(worker, parent, 'worker', 7))
  const root = engine.createRoot(chart, { id: 'trial' } as ActorOptions<AnyStateMachine>)
  const error = (thrown: unknown): void => void failures.push(thrown)
  root.subscribe({ error })
  const subscription = root.subscribe({ next: (snapshot) => see(() => viewOf(snapshot)), error })
  root.start()
  engine.send(root, { type: 'add', by: 2 })
  // with and without subscribers, because the table skips reports that nobody receives
  subscription.unsubscribe()
  engine.send(root, { type: 'go' })
  const inspection = root.system.inspect((event: InspectionEvent) => isAboutEnd(event) || see(() => toldOf(event)))
  for (const type of ['unknown', 'ask', 'again']) engine.send(root, { type })
  inspection.unsubscribe()
  engine.send(root, { type: 'end' })
  see(() => [viewOf(root.getSnapshot()), viewOf(root.getSnapshot().context.child.getSnapshot())])
  if (failures.length > 0) throw failures[0]
  return JSON.stringify(seen)
}

const viewOf = ({ value, status, tags, context, _nodes }: AnyMachineSnapshot) => {
  const { child, ...rest } = context as Partial<Context>
  return [value, status, [...tags], child?.id, rest, _nodes.map(({ id }) => id)]
}

function toldOf(event: InspectionEvent): unknown {
  const actor = (event.actorRef as AnyActorRef).id
  switch (event.type) {
    case '@xstate.microstep':
      return [event.type, actor, event.event, event._transitions.map(({ source }) => source.id)]
    case '@xstate.snapshot':
      return [event.type, actor, event.event, (event.snapshot as AnyMachineSnapshot).value]
    case '@xstate.event':
      return [event.type, actor, (event.sourceRef as AnyActorRef | undefined)?.id, event.event]
    case '@xstate.action':
      return [event.type, actor, event.action.type]
    default:
      return [event.type, actor]
  }
}

/** Table actors do not report their end. */
const isAboutEnd = (event: InspectionEvent): boolean =>
  'event' in event && event.event.type.startsWith('xstate.done.actor')

function firstDifference(seen: string, expected: string): string {
  let at = 0
  while (seen[at] === expected[at]) at++
  const part = (text: string) => text.slice(Math.max(0, at - 40), at + 40)
  return `expected …${part(expected)}…, received …${part(seen)}…`
}
