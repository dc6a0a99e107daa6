import { describe, expect, it } from 'vitest'
import { type AnyActor, type AnyStateMachine, assign, createActor, createMachine, sendTo } from 'xstate'
import { compileChart } from '../../src/chart-engine/compile-chart.ts'
import { createTableRoot } from '../../src/chart-engine/table-root.ts'

const lamp = createMachine({
  id: 'lamp',
  context: { flips: 0 },
  initial: 'off',
  states: {
    off: { on: { flip: 'on', twice: { actions: sendTo(({ self }) => self, { type: 'flip' }) } } },
    on: {
      entry: assign({ flips: ({ context }) => context.flips + 1 }),
      on: {
        flip: 'off',
        burn: 'burnt',
        short: {
          actions: () => {
            throw new Error('short circuit')
          },
        },
      },
    },
    burnt: { type: 'final' },
  },
})

const blown = createMachine({
  id: 'blown',
  entry: () => {
    throw new Error('blown')
  },
})

const makers = {
  xstate: (machine: AnyStateMachine): AnyActor => createActor(machine),
  table: (machine: AnyStateMachine): AnyActor => createTableRoot(compileChart(machine), {}),
}

/** Everything that an inspector gets from now on. */
function listen(actor: AnyActor, heard: unknown[]) {
  return actor.subscribe({
    next: ({ value, status }) => heard.push([value, status]),
    error: (error) => heard.push(`error: ${(error as Error).message}`),
    complete: () => heard.push('complete'),
  })
}

function inspect(actor: AnyActor, heard: unknown[]) {
  return actor.system.inspect((event) => {
    if (event.type !== '@xstate.action') heard.push([event.type, 'event' in event ? event.event.type : undefined])
  })
}

type Story = (actor: AnyActor, heard: unknown[]) => void

const stories: Record<string, Story> = {
  'nobody looks on': (actor) => {
    actor.start()
    for (const type of ['flip', 'flip', 'twice', 'unknown']) actor.send({ type })
  },
  'somebody subscribes before the start': (actor, heard) => {
    listen(actor, heard)
    actor.start()
    for (const type of ['flip', 'flip', 'twice']) actor.send({ type })
  },
  'somebody subscribes in the middle, and leaves': (actor, heard) => {
    actor.start().send({ type: 'flip' })
    const { unsubscribe } = listen(actor, heard)
    actor.send({ type: 'flip' })
    unsubscribe()
    actor.send({ type: 'flip' })
  },
  'somebody inspects in the middle, and leaves': (actor, heard) => {
    actor.start().send({ type: 'flip' })
    const { unsubscribe } = inspect(actor, heard)
    for (const type of ['flip', 'twice']) actor.send({ type })
    unsubscribe()
    actor.send({ type: 'flip' })
  },
  'it comes to its end': (actor, heard) => {
    listen(actor, heard)
    actor.start()
    for (const type of ['flip', 'burn', 'flip']) actor.send({ type })
  },
  'it is stopped, and then sent something': (actor, heard) => {
    listen(actor, heard)
    actor.start().send({ type: 'flip' })
    actor.stop()
    actor.send({ type: 'flip' })
  },
  'an action throws': (actor, heard) => {
    listen(actor, heard)
    actor.start()
    for (const type of ['flip', 'short', 'flip']) actor.send({ type })
  },
}

/** The received events, and the final state. */
function told(maker: keyof typeof makers, machine: AnyStateMachine, story: Story) {
  const heard: unknown[] = []
  const actor = makers[maker](machine)
  story(actor, heard)
  const { value, status, context, error } = actor.getSnapshot()
  return { heard, value, status, context, error: (error as Error | undefined)?.message }
}

describe('Q7 the root of a system that runs from a table behaves like XState’s actor', () => {
  it.each(Object.entries(stories))('%s', (_, story) => {
    expect(told('table', lamp, story)).toEqual(told('xstate', lamp, story))
  })

  it('an action of the start throws', () => {
    const story: Story = (actor, heard) => {
      listen(actor, heard)
      actor.start()
    }
    const { status, error, heard } = told('table', blown, story)
    expect({ status, error, heard }).toEqual({ status: 'error', error: 'blown', heard: ['error: blown'] })
    expect(told('xstate', blown, story).heard).toEqual(heard)
  })
})

describe('the initial context', () => {
  const shared = { n: 0 }
  const factory = (context: () => object) => createMachine({ context } as never)
  const givens: Record<string, () => AnyStateMachine> = {
    'an object': () => createMachine({ context: shared }) as unknown as AnyStateMachine,
    'no context': () => createMachine({}) as unknown as AnyStateMachine,
    'a function that returns a shared object': () => factory(() => shared),
    'a function that returns a frozen object': () => factory(() => Object.freeze({ n: 0 })),
    'a function that returns an object with a getter': () =>
      factory(() => ({
        get n() {
          return 1
        },
      })),
    'a function that returns an instance of a class': () =>
      factory(
        () =>
          new (class Lamp {
            n = 0
          })(),
      ),
    'a function that returns nothing': () => factory(() => undefined as never),
    'a function that returns its own __proto__': () => factory(() => JSON.parse('{"__proto__":{"n":1}}')),
    'a function that throws': () =>
      factory(() => {
        throw new Error('no context')
      }),
  }

  /** What a machine can tell of its context, and whether two actors of a machine share it. */
  function seen(make: (machine: AnyStateMachine) => AnyActor, given: () => AnyStateMachine) {
    const machine = given()
    const [one, other] = [make(machine), make(machine)].map((actor) => actor.getSnapshot().context)
    return {
      isShared: one === other,
      isGiven: one === shared,
      isFrozen: Object.isFrozen(one),
      fields: Object.getOwnPropertyDescriptors(one),
      isPlain: Object.getPrototypeOf(one) === Object.prototype,
      n: one.n,
    }
  }

  it.each(Object.keys(givens))('Q7 is copied exactly where XState copies it: %s', (name) => {
    const given = givens[name] as () => AnyStateMachine
    expect(seen(makers.table, given)).toEqual(seen(makers.xstate, given))
  })
})
