import { describe, expect, it } from 'vitest'
import { createActor, createMachine } from 'xstate'
import { type CallEvent, type CallMachine, callChart } from '../../machines/index.ts'
import { compileChart } from '../../src/chart-engine/compile-chart.ts'
import { expectEqual } from '../support/expect-equal.ts'
import { callKinds, cause, everyEdge, graceEnds, samples, simplePaths } from './call-model.ts'
import { TakenTransitions } from './chart-transitions.ts'
import { type ScriptedCallOptions, scriptedCall } from './scripted-port.ts'

const callLogic = compileChart(callChart())
const parentMachine = createMachine({})

/** The chart as in production, with a parent that records. */
function actorOf(kind: Omit<ScriptedCallOptions, 'id'>, taken?: TakenTransitions, logic: CallMachine = callLogic) {
  const parent = createActor(parentMachine).start()
  taken?.watch(parent.system as never)
  const call = scriptedCall({ id: 'c', ...kind })
  const actor = createActor(logic, {
    parent,
    id: 'call',
    input: { call, executor: parent },
  } as never)
  return { actor: actor as unknown as ReturnType<typeof createActor<typeof callLogic>>, call }
}

describe('the call chart', () => {
  const taken = new TakenTransitions()

  it.each(Object.entries(callKinds))('Q1 P1 P6 A7 every path of a %s ends where the model says', (_, kind) => {
    let paths = 0
    for (const { steps, known } of simplePaths(kind)) {
      paths++
      const { actor } = actorOf(kind, taken)
      actor.start()
      for (const [at, { event, value }] of steps.entries()) {
        actor.send(event)
        if (at >= known) expectEqual(actor.getSnapshot().value, value)
      }
    }
    expect(paths).toBeGreaterThan(0)
  })

  it.each(Object.entries(callKinds))('Q1 A7 every event in every state of a %s leads where XState says', (_, kind) => {
    for (const events of everyEdge(kind)) {
      const [table, chart] = [actorOf(kind, taken).actor.start(), actorOf(kind, undefined, callChart()).actor.start()]
      for (const actor of [table, chart]) {
        for (const event of events) if (actor.getSnapshot().status === 'active') actor.send(event)
      }
      expectEqual(table.getSnapshot().value, chart.getSnapshot().value)
    }
  })

  it('Q1 leaves no transition untaken', () => {
    expect(taken.missing(callChart())).toEqual([])
  })
})

describe('journeys of a call', () => {
  const journeys: [string, Omit<ScriptedCallOptions, 'id'>, CallEvent[], unknown, string[]][] = [
    [
      'a plain success',
      {},
      [{ type: 'call.start' }, samples['tool.settled'][1] as CallEvent],
      { completed: 'durable' },
      ['callTool', 'conclude result'],
    ],
    [
      'a formatted success',
      {},
      [{ type: 'call.start' }, samples['tool.settled'][0] as CallEvent],
      { executing: 'formatting' },
      ['callTool', 'formatResult'],
    ],
    ['an unknown tool', { isAnswered: true }, [], { completed: 'durable' }, ['conclude answer']],
    [
      'an abort in the queue',
      {},
      [{ type: 'call.abort', cause }],
      { completed: 'durable' },
      ['stop user_interrupted', 'conclude abort'],
    ],
    [
      'an interrupt that a running block call does not hear',
      {},
      [{ type: 'call.start' }, ...samples['call.interrupt']],
      { executing: { calling: 'here' } },
      ['callTool'],
    ],
    [
      'an interrupt while it asks',
      { needsAsking: true },
      [{ type: 'call.start' }, ...samples['call.interrupt']],
      { completed: 'durable' },
      ['askHost', 'stop user_interrupted', 'conclude abort'],
    ],
    [
      'an abort while it runs',
      {},
      [{ type: 'call.start' }, { type: 'call.abort', cause }],
      { executing: 'stopping' },
      ['callTool', 'stop user_interrupted', 'startGrace'],
    ],
    [
      'a body that never stops',
      {},
      [{ type: 'call.start' }, { type: 'call.abort', cause }, graceEnds],
      { completed: 'durable' },
      ['callTool', 'stop user_interrupted', 'startGrace', 'abandon', 'conclude abort'],
    ],
    [
      'a timeout',
      {},
      [{ type: 'call.start' }, ...samples['call.timedOut'], graceEnds],
      { executing: 'formatting' },
      ['callTool', 'stop timeout', 'startGrace', 'abandon', 'formatResult'],
    ],
    [
      'a timeout that the user overtakes',
      {},
      [{ type: 'call.start' }, ...samples['call.timedOut'], { type: 'call.abort', cause }, graceEnds],
      { completed: 'durable' },
      ['callTool', 'stop timeout', 'startGrace', 'abandon', 'conclude abort'],
    ],
    [
      'a rewritten input that is no longer safe',
      { needsAsking: true },
      [
        { type: 'call.start' },
        { type: 'permission.allowed', change: { isSafe: false, keys: undefined } },
        { type: 'call.start' },
      ],
      { executing: { calling: 'here' } },
      ['askHost', 'callTool'],
    ],
    [
      'an abort once the body has settled',
      {},
      [{ type: 'call.start' }, samples['tool.settled'][0] as CallEvent, { type: 'call.abort', cause }],
      { executing: 'formatting' },
      ['callTool', 'formatResult', 'hurry'],
    ],
    [
      'a late word after the end',
      {},
      [{ type: 'call.abort', cause }, samples['tool.settled'][1] as CallEvent],
      { completed: 'durable' },
      ['stop user_interrupted', 'conclude abort'],
    ],
    [
      'a start after the end',
      {},
      [{ type: 'call.abort', cause }, { type: 'call.start' }],
      { completed: 'durable' },
      ['stop user_interrupted', 'conclude abort'],
    ],
  ]

  it.each(journeys)('Q1 A7 %s', (_, kind, events, endsIn, asked) => {
    const { actor, call } = actorOf(kind)
    actor.start()
    for (const event of events) actor.send(event)
    expect(actor.getSnapshot().value).toEqual(endsIn)
    expect(call.asked).toEqual(asked)
  })
})
