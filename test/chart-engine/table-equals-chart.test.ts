import { describe, expect, it } from 'vitest'
import { type AnyActor, type AnyActorRef, type AnyStateMachine, assign, createActor, createMachine } from 'xstate'
import { type CallInput, callChart } from '../../machines/index.ts'
import { compileChart } from '../../src/chart-engine/compile-chart.ts'
import { TableActor } from '../../src/chart-engine/table-actor.ts'
import { callKinds, simplePaths } from '../charts/call-model.ts'
import { recordSteps } from '../charts/chart-transitions.ts'
import { scriptedCall } from '../charts/scripted-port.ts'
import { expectEqual } from '../support/expect-equal.ts'

const parentMachine = createMachine({})
const compiled = compileChart(callChart())

type Make = (parent: AnyActorRef, input: CallInput) => AnyActor

const runners = {
  chart: (parent, input) => createActor(callChart(), { parent, id: 'call', input } as never),
  table: (parent, input) => createActor(compiled, { parent, id: 'call', input } as never),
  leanActor: (parent, input) => new TableActor(compiled, parent, 'call', input) as unknown as AnyActor,
} satisfies Record<string, Make>

/** Runs one call on one engine, and returns everything visible. */
function observed(make: Make, kind: (typeof callKinds)[string]) {
  const parent = createActor(parentMachine, { id: 'parent' }).start()
  const steps = recordSteps(parent.system as never)
  const call = scriptedCall({ id: 'c', ...kind })
  const actor = make(parent, { call, executor: parent })
  actor.start()
  return {
    send: (event: unknown) => actor.send(event as never),
    get view() {
      const { machine, _nodes, context, ...rest } = actor.getSnapshot() as never as Record<string, unknown>
      const { cause, ending, isHooked, isPermitted } = context as Record<string, unknown>
      const json = JSON.parse(JSON.stringify({ ...rest, tags: [...(rest.tags as Set<string>)] }))
      return {
        ...json,
        nodes: (_nodes as { id: string }[]).map(({ id }) => id).sort(),
        cause,
        ending,
        isHooked,
        isPermitted,
        asked: call.asked,
        // such a chart reports its end itself
        steps: steps.filter(([, , type]) => type !== 'xstate.done.actor.call'),
      }
    },
  }
}

describe('a chart that runs from a table', () => {
  it.each(Object.entries(callKinds))('Q1 takes the same steps as XState on every path of a %s', (_, kind) => {
    const compare = ({ chart, table, leanActor }: Record<keyof typeof runners, ReturnType<typeof observed>>) => {
      const expected = chart.view
      expectEqual([table.view, leanActor.view], [expected, expected])
    }
    compare(mapValues(runners, (make) => observed(make, kind)))
    for (const { steps, known } of simplePaths(kind)) {
      const calls = mapValues(runners, (make) => observed(make, kind))
      for (const [at, { event }] of steps.entries()) {
        for (const each of Object.values(calls)) each.send(event)
        if (at >= known) compare(calls)
      }
    }
  })

  const counting = createMachine({
    id: 'counting',
    type: 'parallel',
    context: { log: [] as string[] },
    states: {
      left: {
        initial: 'idle',
        states: {
          idle: { exit: note('exit idle'), on: { go: { target: 'busy.deep', actions: note('go') }, both: 'busy' } },
          busy: {
            entry: note('enter busy'),
            exit: note('exit busy'),
            initial: 'shallow',
            states: {
              shallow: { entry: note('enter shallow') },
              deep: { entry: note('enter deep'), exit: note('exit deep') },
            },
            on: {
              back: 'idle',
              again: { target: 'busy', reenter: true },
              inner: '.shallow',
              stay: { actions: note('stay') },
            },
          },
        },
      },
      right: {
        initial: 'off',
        states: {
          off: { on: { both: 'on' } },
          on: { tags: 'lit', always: { guard: ({ context }) => (context.log as string[]).length > 6, target: 'off' } },
        },
      },
    },
  })

  it('Q7 enters and exits nested and parallel states in the order of XState', () => {
    const [table, chart] = [createActor(compileChart(counting)).start(), createActor(counting).start()]
    for (const type of [
      'go',
      'inner',
      'stay',
      'back',
      'both',
      'again',
      'nothing',
      'back',
      'both',
      'go',
      'back',
      'both',
    ]) {
      table.send({ type })
      chart.send({ type })
      const [one, other] = [table.getSnapshot(), chart.getSnapshot()]
      expect([type, one.value, one.context, [...one.tags]]).toEqual([type, other.value, other.context, [...other.tags]])
      expect([one.matches({ left: 'busy' }), one.hasTag('lit'), one.can({ type: 'back' })]).toEqual([
        other.matches({ left: 'busy' }),
        other.hasTag('lit'),
        other.can({ type: 'back' }),
      ])
    }
  })

  it('Q7 exits every state when it is done', () => {
    const ending = createMachine({
      context: { log: [] as string[] },
      exit: note('exit root'),
      initial: 'a',
      states: {
        a: { exit: note('exit a'), on: { end: 'b' } },
        b: { type: 'final', entry: note('enter b'), exit: note('exit b') },
      },
    })
    const [table, chart] = [createActor(compileChart(ending)).start(), createActor(ending).start()]
    for (const actor of [table, chart]) actor.send({ type: 'end' })
    expect(table.getSnapshot().context).toEqual(chart.getSnapshot().context)
    expect(table.getSnapshot()).toMatchObject({ status: 'done', value: 'b' })
  })

  it('Q7 ends in error where XState does: a guard that throws, an action that throws', () => {
    const broken = (fault: object) => createMachine({ on: { go: fault } } as never) as AnyStateMachine
    const boom = () => {
      throw new Error('boom')
    }
    for (const machine of [broken({ guard: boom }), broken({ actions: boom })]) {
      for (const logic of [machine, compileChart(machine)]) {
        const actor = createActor(logic)
        const errors: unknown[] = []
        actor.subscribe({ error: (thrown) => errors.push(thrown) })
        actor.start().send({ type: 'go' })
        expect([actor.getSnapshot().status, String(errors)]).toEqual(['error', expect.stringContaining('boom')])
      }
    }
  })

  it('Q7 stops like any other actor', () => {
    const actor = createActor(compileChart(counting)).start()
    expect(actor.stop().getSnapshot().status).toBe('stopped')
  })
})

const mapValues = <Key extends string, From, To>(from: Record<Key, From>, map: (value: From) => To) =>
  Object.fromEntries(Object.entries<From>(from).map(([key, value]) => [key, map(value)])) as Record<Key, To>

function note(what: string) {
  return assign({ log: ({ context }: { context: { log: string[] } }) => [...context.log, what] }) as never
}
