import { describe, expect, it } from 'vitest'
import { createActor } from 'xstate'
import { connectionChart } from '../../../machines/index.ts'
import { simulatedClock } from '../../../src/testing/index.ts'

const limits = { maxAttempts: 4, connectMs: 1_000, minBackoffMs: 100, maxBackoffMs: 250, stableMs: 5_000 }

function start() {
  const clock = simulatedClock()
  const asked: string[] = []
  const port = { open: () => void asked.push('open'), letGo: () => void asked.push('letGo') }
  const actor = createActor(connectionChart(), { clock, input: { port, limits } }).start()
  return {
    actor,
    clock,
    asked,
    state: () => actor.getSnapshot().value,
    context: () => actor.getSnapshot().context,
    fail: (isHopeless = false) => actor.send({ type: 'connection.failed', problem: 'no', isHopeless }),
    opened: () => actor.send({ type: 'connection.opened' }),
    lost: () => actor.send({ type: 'connection.lost', problem: 'gone' }),
  }
}

describe('a connection', () => {
  it('is attempted at once, and stays open', () => {
    const { opened, state, asked } = start()
    expect([state(), asked]).toEqual(['connecting', ['open']])
    opened()
    expect([state(), asked]).toEqual(['ready', ['open']])
  })

  it('that fails is retried with growing delays, up to a limit', () => {
    const { clock, fail, state, asked, context } = start()
    for (const pause of [100, 200, 250]) {
      fail()
      expect(state()).toBe('backingOff')
      clock.increment(pause - 1)
      expect(state()).toBe('backingOff')
      clock.increment(1)
      expect(state()).toBe('connecting')
    }
    fail()
    expect([state(), context().problem, context().failures]).toEqual(['failed', 'no', 4])
    expect(asked.filter((each) => each === 'open')).toHaveLength(4)
    expect(clock.pending).toBe(0)
  })

  it('that can never succeed is attempted once', () => {
    const { fail, state } = start()
    fail(true)
    expect(state()).toBe('failed')
  })

  it('that times out is closed and retried', () => {
    const { clock, state, asked, context } = start()
    clock.increment(1_000)
    expect([state(), asked, context().problem]).toEqual([
      'backingOff',
      ['open', 'letGo'],
      'the server did not answer within 1000 ms',
    ])
    for (let n = 0; n < 3; n++) clock.increment(1_250)
    expect(state()).toBe('failed')
  })

  it('that is lost while opening, or later, is retried', () => {
    const early = start()
    early.lost()
    expect(early.state()).toBe('backingOff')
    const late = start()
    late.opened()
    late.lost()
    expect([late.state(), late.context().problem]).toEqual(['backingOff', 'gone'])
    late.clock.increment(100)
    late.opened()
    expect([late.state(), late.context().problem]).toEqual(['ready', undefined])
  })

  it('that breaks repeatedly fails for good, unless it stayed open or was used in between', () => {
    const broken = start()
    for (let n = 0; n < 4; n++) {
      broken.opened()
      broken.lost()
      broken.clock.increment(250)
    }
    expect(broken.state()).toBe('failed')
    for (const between of [
      (one: ReturnType<typeof start>) => one.clock.increment(5_000),
      (one: ReturnType<typeof start>) => one.actor.send({ type: 'connection.proved' }),
    ]) {
      const useful = start()
      for (let n = 0; n < 10; n++) {
        useful.opened()
        between(useful)
        useful.lost()
        useful.clock.increment(250)
      }
      expect(useful.state()).toBe('connecting')
    }
  })

  it('can be reconnected from every state', () => {
    const waiting = start()
    waiting.fail()
    waiting.actor.send({ type: 'connection.retry' })
    expect(waiting.state()).toBe('connecting')
    const over = start()
    over.fail(true)
    over.actor.send({ type: 'connection.retry' })
    expect([over.state(), over.context().failures]).toEqual(['connecting', 0])
    const ready = start()
    ready.opened()
    ready.actor.send({ type: 'connection.retry' })
    expect([ready.state(), ready.asked]).toEqual(['connecting', ['open', 'letGo', 'open']])
  })

  it.each([
    'connecting',
    'ready',
    'backingOff',
    'failed',
  ])('that is closed while %s ends, and has no timer left', (from) => {
    const one = start()
    if (from === 'ready') one.opened()
    if (from === 'backingOff' || from === 'failed') one.fail(from === 'failed')
    expect(one.state()).toBe(from)
    one.actor.send({ type: 'connection.close' })
    expect([one.state(), one.asked.at(-1), one.actor.getSnapshot().status, one.clock.pending]).toEqual([
      'closed',
      'letGo',
      'done',
      0,
    ])
  })

  it('that is lost after the last attempt fails, in either state', () => {
    for (const isOpen of [true, false]) {
      const one = start()
      for (let n = 0; n < 3; n++) {
        one.fail()
        one.clock.increment(250)
      }
      if (isOpen) one.opened()
      one.lost()
      expect(one.state()).toBe('failed')
    }
  })
})
