import { describe, expect, it, onTestFinished } from 'vitest'
import {
  Actor,
  type AnyActor,
  type AnyActorRef,
  type AnyStateMachine,
  assign,
  createActor,
  createMachine,
  type InspectionEvent,
  sendTo,
} from 'xstate'
import { compileChart } from '../../src/chart-engine/compile-chart.ts'
import { TableActor } from '../../src/chart-engine/table-actor.ts'
import { countInspectors } from '../../src/chart-engine/xstate-internals.ts'

const lamp = createMachine({
  id: 'lamp',
  context: { flips: 0 },
  initial: 'off',
  states: {
    off: { on: { flip: 'on' } },
    on: { entry: assign({ flips: ({ context }) => context.flips + 1 }), on: { flip: 'off', burn: 'burnt' } },
    burnt: { type: 'final' },
  },
})

/** A parent that records the events of its child. */
function parentThatHears() {
  const heard: string[] = []
  const parent = createActor(
    createMachine({ on: { '*': { actions: ({ event }) => void heard.push(event.type) } } }),
  ).start()
  return { parent: parent as AnyActorRef, heard }
}

function child(machine: AnyStateMachine, input?: unknown) {
  const { parent, heard } = parentThatHears()
  const actor = new TableActor(compileChart(machine), parent, 'child', input)
  return { actor, ref: actor.ref, parent, heard }
}

/** Uncaught errors during a test. */
function uncaught(): unknown[] {
  const errors: unknown[] = []
  const before = process.listeners('uncaughtException')
  process.removeAllListeners('uncaughtException')
  process.on('uncaughtException', (error) => errors.push(error))
  onTestFinished(() => {
    process.removeAllListeners('uncaughtException')
    for (const listener of before) process.on('uncaughtException', listener)
  })
  return errors
}

describe('a table actor', () => {
  it('Q7 is an actor of its parent’s system, with its own id', () => {
    const { actor, parent } = child(lamp)
    const other = new TableActor(compileChart(lamp), parent, 'child', undefined)
    expect(actor).toBeInstanceOf(Actor)
    expect(actor.system).toBe(parent.system)
    expect(new Set([actor.sessionId, other.sessionId, parent.sessionId]).size).toBe(3)
    expect(JSON.parse(JSON.stringify(actor))).toEqual({ xstate$$type: 1, id: 'child' })
    expect(actor.options).toEqual({ input: undefined })
    expect([actor.clock, actor.logger]).toEqual([
      (parent as AnyActor).clock,
      (parent.system as unknown as { _logger: unknown })._logger,
    ])
  })

  it('Q7 reports each state and its end to subscribers, then releases them', () => {
    const { actor, ref } = child(lamp)
    const seen: unknown[] = []
    ref.subscribe({ next: ({ value }: { value: unknown }) => seen.push(value), complete: () => seen.push('complete') })
    actor.start()
    for (const type of ['flip', 'flip', 'flip', 'burn', 'flip']) ref.send({ type })
    expect(seen).toEqual(['off', 'on', 'off', 'on', 'burnt', 'complete'])
    expect(actor.observers.size).toBe(0)
    ref.subscribe({ complete: () => seen.push('late') })
    expect(seen.at(-1)).toBe('late')
  })

  it('Q7 continues when a subscriber throws, and the error is rethrown', async () => {
    const { actor, ref } = child(lamp)
    const errors = uncaught()
    const seen: unknown[] = []
    ref.subscribe(() => {
      throw new Error('a subscriber')
    })
    ref.subscribe(({ value }: { value: unknown }) => seen.push(value))
    actor.start()
    ref.send({ type: 'flip' })
    // XState also throws it from a timer
    await new Promise((resolve) => setTimeout(resolve))
    expect([seen, ref.getSnapshot().context]).toEqual([['off', 'on'], { flips: 1 }])
    expect(errors.map(String)).toEqual(['Error: a subscriber', 'Error: a subscriber'])
  })

  it('Q7 processes events from before its start when it starts, and none after its end', () => {
    const { actor, ref } = child(lamp)
    const { send } = ref
    send({ type: 'flip' })
    expect(ref.getSnapshot().value).toBe('off')
    actor.start().start()
    expect(ref.getSnapshot().context).toEqual({ flips: 1 })
    send({ type: 'burn' })
    send({ type: 'flip' })
    expect(ref.getSnapshot()).toMatchObject({ value: 'burnt', status: 'done' })
  })

  it('Q7 processes one event at a time: an event that it sends itself in a step comes after the step', () => {
    const log: string[] = []
    const { actor, ref } = child(
      createMachine({
        on: {
          first: {
            actions: [
              ({ self }) => self.send({ type: 'second' }),
              sendTo(({ self }) => self, { type: 'third' }),
              () => void log.push('first'),
            ],
          },
          second: { actions: () => void log.push('second') },
          third: { actions: () => void log.push('third') },
        },
      }),
    )
    actor.start()
    ref.send({ type: 'first' })
    expect(log).toEqual(['first', 'second', 'third'])
  })

  it('Q7 ends in error where XState’s actor does, and its parent gets the error', () => {
    const boom = () => {
      throw new Error('boom')
    }
    const faults = { guard: { on: { go: { guard: boom } } }, action: { on: { go: { actions: boom } } } }
    for (const fault of Object.values(faults)) {
      const { actor, ref, heard } = child(createMachine(fault as never))
      const errors: unknown[] = []
      ref.subscribe({ error: (error: unknown) => errors.push(error) })
      actor.start()
      ref.send({ type: 'go' })
      ref.send({ type: 'go' })
      expect([ref.getSnapshot().status, String(errors), heard]).toEqual([
        'error',
        expect.stringMatching(/^Error: (Unable to evaluate guard .*\n)?boom$/),
        ['xstate.error.actor.child'],
      ])
    }
    const stillborn = child(createMachine({ entry: boom }))
    stillborn.actor.start()
    expect([stillborn.ref.getSnapshot().status, stillborn.heard]).toEqual(['error', ['xstate.error.actor.child']])
  })

  it('Q7 stops when its parent stops it, before its start and after', () => {
    for (const isStarted of [true, false]) {
      const { actor, ref } = child(lamp)
      if (isStarted) actor.start()
      actor._stop()
      ref.send({ type: 'flip' })
      actor.start()
      expect(ref.getSnapshot()).toMatchObject({ value: 'off', status: isStarted ? 'stopped' : 'active' })
    }
  })
})

describe('counting inspectors', () => {
  it('reports from the first inspector to the last, and nothing before or after', () => {
    const { actor, ref, parent } = child(lamp)
    countInspectors(parent.system)
    countInspectors(parent.system)
    actor.start()
    const seen: string[] = []
    const inspect = () => parent.system.inspect((event: InspectionEvent) => void seen.push(event.type))
    ref.send({ type: 'flip' })
    const [one, other] = [inspect(), inspect()]
    one.unsubscribe()
    one.unsubscribe()
    ref.send({ type: 'flip' })
    expect(seen).toEqual(['@xstate.event', '@xstate.microstep', '@xstate.snapshot'])
    other.unsubscribe()
    ref.send({ type: 'flip' })
    expect([seen.length, ref.getSnapshot().context]).toEqual([3, { flips: 2 }])
  })
})
