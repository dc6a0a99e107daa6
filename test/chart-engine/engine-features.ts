import {
  type AnyStateMachine,
  and,
  assign,
  cancel,
  createMachine,
  emit,
  enqueueActions,
  forwardTo,
  fromPromise,
  log,
  not,
  or,
  raise,
  sendParent,
  sendTo,
  setup,
  spawnChild,
  stateIn,
  stopChild,
} from 'xstate'
import type { Act } from './beside-xstate.ts'

type Note = (name: string) => (args: { context: unknown; event: { type: string } }, params?: unknown) => void

/** A feature of XState: whether the table supports it, and a chart that uses it. */
export interface Feature {
  readonly name: string
  readonly answer: 'same' | 'refused'
  readonly chart: (note: Note) => AnyStateMachine
  readonly acts: readonly Act[]
}

const go = { type: 'go' }
const back = { type: 'back' }
const child = createMachine({ id: 'child', on: { ask: { actions: sendParent({ type: 'answered' }) } } })
const ending = createMachine({ id: 'ending', initial: 'over', states: { over: { type: 'final' } } })
const count = assign({ n: ({ context }: { context: { n: number } }) => context.n + 1 }) as never

/** A chart `a → b` with additional parts. */
const pair = (config: object, a: object = {}, b: object = {}) =>
  createMachine({
    id: 'm',
    context: { n: 0 },
    initial: 'a',
    states: { a: { on: { go: 'b' }, ...a }, b: { on: { back: 'a' }, ...b } },
    ...config,
  } as never) as unknown as AnyStateMachine

const regions = (left: object, right: object, config: object = {}) =>
  createMachine({
    id: 'm',
    context: { n: 0 },
    type: 'parallel',
    states: { left, right },
    ...config,
  } as never) as unknown as AnyStateMachine

const same = (name: string, chart: Feature['chart'], acts: readonly Act[] = [go, back, go]): Feature => ({
  name,
  answer: 'same',
  chart,
  acts,
})
const refused = (name: string, chart: () => AnyStateMachine): Feature => ({ name, answer: 'refused', chart, acts: [] })

const onGo = (transition: unknown, config: object = {}) => pair(config, { on: { go: transition } })
const doing = (...actions: unknown[]) => onGo({ target: 'b', actions })

export const features: readonly Feature[] = [
  same('target', () => pair({})),
  same('target by `#id`', () => onGo('#other', { states: { a: { on: { go: '#other' } }, b: { id: 'other' } } })),
  same('target inside (`.child`)', () =>
    pair({}, { initial: 'one', states: { one: {}, two: {} }, on: { go: '.two' } }),
  ),
  same('target of the root (`#m`)', (note) => onGo({ target: '#m' }, { entry: note('entry'), exit: note('exit') })),
  same('multiple targets', () =>
    pair(
      {},
      { on: { go: { target: ['#x2', '#y2'] } } },
      {
        type: 'parallel',
        states: {
          x: { initial: 'x1', states: { x1: {}, x2: { id: 'x2' } } },
          y: { initial: 'y1', states: { y1: {}, y2: { id: 'y2' } } },
        },
      },
    ),
  ),
  same('no target', (note) => onGo({ actions: note('stays') })),
  same('forbidden transition (`{}`)', (note) => pair({ on: { go: { actions: note('outer') } } }, { on: { go: {} } })),
  same('transition list, first match', (note) =>
    onGo([{ guard: () => false, target: 'b' }, { actions: note('second') }]),
  ),
  same('transition of an ancestor', (note) => pair({ on: { up: { actions: note('up') } } }), [{ type: 'up' }]),
  same('unknown event', () => pair({}), [{ type: 'nothing' }]),
  same(
    '`reenter`',
    (note) => pair({}, { entry: note('entry'), exit: note('exit'), on: { go: { target: 'a', reenter: true } } }),
    [go, go],
  ),
  same('self-transition without `reenter`', (note) =>
    pair({}, { entry: note('entry'), exit: note('exit'), on: { go: 'a' } }),
  ),
  same(
    '`reenter` of a compound state',
    (note) =>
      pair(
        {},
        {
          entry: note('entry'),
          exit: note('exit'),
          initial: 'one',
          states: { one: { on: { step: 'two' } }, two: { exit: note('exit two') } },
          on: { go: { target: 'a', reenter: true } },
        },
      ),
    [{ type: 'step' }, go],
  ),
  same('`reenter` of the root', (note) =>
    pair({ entry: note('entry'), exit: note('exit'), on: { go: { target: '.b', reenter: true } } }, { on: {} }),
  ),
  same('entry and exit order', (note) =>
    pair(
      { entry: note('root') },
      { entry: note('a in'), exit: note('a out') },
      { entry: note('b in'), exit: note('b out') },
    ),
  ),
  same('compound states', () => pair({}, {}, { initial: 'one', states: { one: { on: { go: 'two' } }, two: {} } })),
  same('parallel states', () =>
    regions({ initial: 'l1', states: { l1: { on: { go: 'l2' } }, l2: {} } }, { initial: 'r1', states: { r1: {} } }),
  ),
  same('parallel transitions on one event', (note) =>
    regions(
      { initial: 'l1', states: { l1: { on: { go: { target: 'l2', actions: note('left') } } }, l2: {} } },
      { initial: 'r1', states: { r1: { on: { go: { target: 'r2', actions: note('right') } } }, r2: {} } },
    ),
  ),
  same('conflicting parallel transitions', (note) =>
    regions(
      { initial: 'l1', states: { l1: { on: { go: { target: '#r2', actions: note('left') } } } } },
      { initial: 'r1', states: { r1: { on: { go: { target: 'r2', actions: note('right') } } }, r2: { id: 'r2' } } },
    ),
  ),
  same('`reenter` of a region', (note) =>
    regions(
      { initial: 'l1', states: { l1: {}, l2: {} }, on: { go: { target: 'left', reenter: true } } } as object,
      { exit: note('right out'), initial: 'r1', states: { r1: {} } },
      {},
    ),
  ),
  same('a parallel state answers where no region does', (note) =>
    regions({}, { on: { other: {} } }, { on: { go: { actions: note('around') } } }),
  ),
  same(
    'regions asked in the order in which they were entered',
    (note) =>
      regions(
        { initial: 'l1', states: { l1: { on: { go: 'l2' } }, l2: { always: { guard: 'n', actions: note('left') } } } },
        { initial: 'r1', states: { r1: { always: { guard: 'n', actions: note('right') } } } },
        {},
      ).provide({ guards: { n: () => false } }) as AnyStateMachine,
  ),
  same('`initial` with actions', (note) =>
    pair(
      { initial: { target: 'a', actions: note('first') } },
      {},
      {
        initial: { target: 'one', actions: note('inner') },
        states: { one: {} },
      },
    ),
  ),
  same('`always`', () => pair({ states: { a: { on: { go: 'b' } }, b: { always: 'c' }, c: {} } })),
  same('`always` with a guard and an assign, until it stops', () =>
    pair({}, { always: { guard: ({ context }: { context: { n: number } }) => context.n < 5, actions: count } }),
  ),
  same('`always` that changes nothing is taken once', (note) => pair({}, { always: { actions: note('once') } })),
  same('final state', () => pair({}, {}, { type: 'final' })),
  same(
    '`onDone` of a compound state',
    () => pair({}, { initial: 'one', states: { one: { on: { step: 'end' } }, end: { type: 'final' } }, onDone: 'b' }),
    [{ type: 'step' }],
  ),
  same('`onDone` of a parallel state', () =>
    pair(
      {},
      {
        type: 'parallel',
        states: {
          x: { initial: 'x1', states: { x1: { on: { go: 'x2' } }, x2: { type: 'final' } } },
          y: { initial: 'y1', states: { y1: { on: { back: 'y2' } }, y2: { type: 'final' } } },
        },
        onDone: 'b',
      },
    ),
  ),
  same(
    '`output` of a final state, in `onDone`',
    (note) =>
      pair(
        {},
        {
          initial: 'end',
          states: { end: { type: 'final', output: () => 7 } },
          onDone: { target: 'b', actions: { type: 'noted', params: ({ event }: { event: unknown }) => event } },
        },
      ).provide({ actions: { noted: note('done') } } as never) as AnyStateMachine,
  ),
  same('`output` of the machine', () =>
    pair({ output: ({ context, event }: never) => [context, event] }, {}, { type: 'final', output: 3 }),
  ),
  same('a parallel root that is done', () =>
    regions(
      { initial: 'l1', states: { l1: { on: { go: 'l2' } }, l2: { type: 'final' } } },
      { initial: 'r1', states: { r1: { type: 'final' } } },
      { output: 'whole' },
    ),
  ),
  same('exits when the machine is done', (note) =>
    pair({ exit: note('root') }, {}, { type: 'final', exit: note('end') }),
  ),
  same('`after`', () => pair({}, { after: { 10: 'b' } }), [5, 5]),
  same('`after` that is left in time', () => pair({}, { after: { 10: 'b' }, on: { go: 'b' } }, {}), [5, go, 20]),
  same(
    '`after` with a named delay',
    () => pair({}, { after: { soon: 'b' } }).provide({ delays: { soon: 3 } } as never) as AnyStateMachine,
    [3],
  ),
  same('`xstate.route`', () => pair({ states: { a: { on: {} }, b: { id: 'b', route: {} } } }), [
    { type: 'xstate.route', to: '#b' } as never,
  ]),
  same('context from a factory', () => pair({ context: ({ input }: { input: number }) => ({ n: input }) })),
  same('context that cannot be made', () =>
    pair({
      context: () => {
        throw new Error('no context')
      },
    }),
  ),
  same('no context', () => createMachine({ id: 'm', on: { go: {} } }) as unknown as AnyStateMachine),
  same(
    'named guard',
    () =>
      pair({}, { on: { go: { guard: 'g', target: 'b' } } }).provide({
        guards: { g: () => true },
      } as never) as AnyStateMachine,
  ),
  same(
    'guard with parameters',
    (note) =>
      onGo({ guard: { type: 'g', params: ({ event }: { event: unknown }) => event }, target: 'b' }).provide({
        guards: { g: (_: unknown, params: unknown) => note('asked')({ context: 0, event: go }, params) === undefined },
      } as never) as AnyStateMachine,
  ),
  same('inline guard', () =>
    onGo({ guard: ({ context }: { context: { n: number } }) => context.n === 0, target: 'b' }),
  ),
  same(
    'guard that is another’s name',
    () =>
      onGo({ guard: 'alias', target: 'b' }).provide({
        guards: { alias: 'g', g: () => true },
      } as never) as AnyStateMachine,
  ),
  same('unknown guard', () => onGo({ guard: 'nowhere', target: 'b' })),
  same('guard that throws', () =>
    onGo({
      guard: () => {
        throw new Error('guard')
      },
    }),
  ),
  same('`and`', () => onGo({ guard: and([() => true, () => false] as never), target: 'b' })),
  same('`or`', () => onGo({ guard: or([() => false, () => true] as never), target: 'b' })),
  same('`not`', () => onGo({ guard: not((() => false) as never), target: 'b' })),
  same('`stateIn`', () => onGo({ guard: stateIn('#m.a'), target: 'b' })),
  same(
    'named action',
    (note) => doing('named').provide({ actions: { named: note('named') } } as never) as AnyStateMachine,
  ),
  same(
    'action with parameters',
    (note) =>
      doing({ type: 'named', params: ({ context }: { context: unknown }) => context }).provide({
        actions: { named: note('named') },
      } as never) as AnyStateMachine,
  ),
  same('inline action', (note) => doing(note('inline'))),
  same('unknown action', () => doing('nowhere')),
  same('action that throws', () =>
    doing(() => {
      throw new Error('action')
    }),
  ),
  same('`assign` with an object', () =>
    doing(assign({ n: ({ context }: never) => (context as { n: number }).n + 1, m: 2 })),
  ),
  same('`assign` with a function', () => doing(assign(() => ({ n: 5, f: () => 6 })))),
  same('`assign` that spawns', () =>
    doing(
      assign({ ref: ({ spawn }: { spawn: (...args: unknown[]) => unknown }) => spawn(child, { id: 'kid' }) } as never),
    ),
  ),
  same('`sendTo` an actor', () => doing(sendTo(({ self }) => self, { type: 'back' }))),
  same('`sendTo` a child by its id', () =>
    doing(spawnChild(child as never, { id: 'kid' } as never), sendTo('kid', { type: 'ask' })),
  ),
  same('`sendTo` an unknown child', () => doing(sendTo('nobody', { type: 'ask' }))),
  same('delayed `sendTo`', () => doing(sendTo(({ self }) => self, { type: 'back' }, { delay: 5 })), [go, 4, 1]),
  same('`sendParent` without a parent', () => doing(sendParent({ type: 'up' }))),
  same('`forwardTo`', () => doing(spawnChild(child as never, { id: 'kid' } as never), forwardTo('kid'))),
  same('`raise`', (note) =>
    pair(
      { on: { more: { actions: note('more') } } },
      { on: { go: { target: 'b', actions: raise({ type: 'more' }) } } },
    ),
  ),
  same('delayed `raise`', () => doing(raise({ type: 'back' }, { delay: 5 })), [go, 5]),
  same('`cancel`', () => doing(raise({ type: 'back' }, { delay: 5, id: 'later' }), cancel('later')), [go, 9]),
  same('`emit`', () => doing(emit({ type: 'emitted', n: 1 }))),
  same('`log`', () => doing(log(({ context }) => context, 'label'))),
  same('`spawnChild`', () => doing(spawnChild(child as never, { id: 'kid' } as never))),
  same('a spawned child that is done', () => doing(spawnChild(ending as never, { id: 'kid' } as never))),
  same('`stopChild`', () =>
    pair({ entry: spawnChild(child as never, { id: 'kid' } as never) }, { on: { go: { actions: stopChild('kid') } } }),
  ),
  same('children of a machine that is done', () =>
    pair({ entry: spawnChild(child as never, { id: 'kid' } as never) }, {}, { type: 'final' }),
  ),
  same('`enqueueActions`', (note) =>
    doing(
      enqueueActions(({ enqueue, check }) => {
        enqueue.assign({ n: 9 })
        if (check((() => true) as never)) enqueue(note('enqueued') as never)
        enqueue.raise({ type: 'back' })
        enqueue.emit({ type: 'emitted' })
      }),
    ),
  ),
  same('`assign` inside `enqueueActions` is done when it has returned', () => {
    const box = { n: 1 }
    return doing(
      enqueueActions(({ enqueue }) => {
        enqueue.assign(() => ({ n: box.n }))
        box.n = 2
      }),
    )
  }),
  same('`enqueueActions` inside `enqueueActions`', (note) =>
    doing(
      enqueueActions(({ enqueue }) => {
        enqueue(enqueueActions(({ enqueue: inner }) => inner(note('inner') as never)) as never)
        enqueue(note('outer') as never)
      }),
    ),
  ),
  same('`tags`', () => pair({ tags: 'all' }, { tags: ['red'] }, { tags: ['green', 'all'] })),
  same('`meta` and `description`', () => pair({ meta: { root: 1 } }, { meta: { a: 1 }, description: 'a' })),
  same(
    '`setup`',
    () =>
      setup({ actions: { counted: count } }).createMachine({
        id: 'm',
        context: { n: 0 },
        on: { go: { actions: 'counted' } },
      } as never) as unknown as AnyStateMachine,
  ),
  same('an error that comes from a child', () =>
    doing(
      spawnChild(
        createMachine({
          entry: () => {
            throw new Error('kid')
          },
        }) as never,
        { id: 'kid' } as never,
      ),
    ),
  ),
  same('an error of a child that is answered', () => pair({ on: { 'xstate.error.actor.kid': '.b' } }), [
    { type: 'xstate.error.actor.kid', error: 1, actorId: 'kid' } as never,
    back,
  ]),
  refused('invoke', () => pair({}, { invoke: { src: fromPromise(async () => 1) } })),
  refused('history', () => pair({ states: { a: {}, b: {}, past: { type: 'history' } } })),
  refused('wildcards', () => pair({ on: { '*': {} } })),
  refused('wildcards', () => pair({ on: { 'call.*': {} } })),
  refused('options.maxIterations', () => pair({ options: { maxIterations: 10 } })),
  refused(
    'an action implementation that is not a function',
    () => pair({}).provide({ actions: { a: 'b' } } as never) as AnyStateMachine,
  ),
]
