import { expect } from 'vitest'
import { SignalboxError } from '../../../src/base/signalbox-error.ts'
import { type AnyTool, type QueryOptions, type QueryResult, query } from '../../../src/index.ts'
import type { LimitedRun } from '../../../src/usage/account.ts'
import { Account } from '../../../src/usage/account.ts'
import { heldTool } from '../../support/held-tool.ts'
import { inShort, testQuery } from '../../support/query.ts'
import { TestLog } from '../../support/test-log.ts'
import { flush } from '../../support/turn.ts'

const nobody: LimitedRun = { limitReached: () => undefined, limitNear: () => undefined }

function endOf(result: Promise<QueryResult>): { result?: QueryResult } {
  const end: { result?: QueryResult } = {}
  void result.then((given) => {
    end.result = given
  })
  return end
}

/** A query whose budget of ten turns somebody else has reserved, until `free`. */
async function waiting(options: Partial<QueryOptions> = {}, tools: readonly AnyTool[] = []) {
  const account = new Account({ limits: { turns: 10, calls: 0 } })
  account.join(nobody)
  const other = account.reserve(nobody, { turns: 10 }, () => undefined)
  const made = testQuery(tools, { account, ...options })
  const end = endOf(made.result)
  await flush()
  const free = async () => {
    account.release(other)
    await flush()
  }
  return { ...made, account, end, free, stateOf: () => made.run.actor.getSnapshot().value }
}

/** A query with a time limit, at a call of its first reply that runs. */
async function timed(options: Partial<QueryOptions> = {}) {
  const slow = heldTool('Slow', { obedient: true })
  const made = testQuery([slow.tool], { limits: { durationMs: 100 }, ...options })
  const end = endOf(made.result)
  await flush()
  made.held.start()
  made.held.call('a', 'Slow')
  made.held.text('more')
  await flush()
  const pass = async (ms: number) => {
    for (let n = 0; n < ms; n += 10) made.clock.increment(10)
    await flush()
  }
  return { ...made, slow, end, pass, stateOf: () => made.run.actor.getSnapshot().value }
}

const busy = Object.assign(new Error('busy'), { status: 529 })

/** Limits, and requests that wait for what others have reserved. */
export const limitsScenarios: Record<string, () => Promise<void>> = {
  async 'a request waits until others give back what they have reserved'() {
    const { held, free, stateOf } = await waiting()
    expect([stateOf(), held.requests.length]).toEqual(['reserving', 0])
    await free()
    expect([stateOf(), held.requests.length]).toEqual(['streaming', 1])
  },
  async 'a message that comes while a request waits is part of it'() {
    for (const isSteered of [false, true]) {
      const { run, held, free } = await waiting()
      if (isSteered) run.interrupt('and this')
      else run.send('and this')
      await flush()
      await free()
      expect(JSON.stringify(held.requests[0]?.messages)).toContain('and this')
    }
  },
  async 'an abort ends a request that waits, and others go on'() {
    const { run, held, end, free, account } = await waiting()
    run.abort('enough')
    await flush()
    expect([end.result?.reason, held.requests.length]).toEqual(['aborted_streaming', 0])
    let isServed = false
    account.reserve(nobody, { turns: 1 }, () => {
      isServed = true
    })
    await free()
    expect(isServed).toBe(true)
  },
  async 'a request that waits ends when a limit is reached'() {
    const { held, end, account } = await waiting()
    // somebody else makes a call
    account.call(false)
    await flush()
    expect([end.result, held.requests.length]).toMatchObject([{ reason: 'limit', limit: 'calls', used: 0, max: 0 }, 0])
  },
  async 'a session can be suspended while its request waits, and its log may fail'() {
    for (const isFailing of [false, true]) {
      const log = new TestLog([])
      const { run, end } = await waiting({ journal: log })
      if (isFailing) log.fail(new Error('no space'))
      else run.suspend(0)
      await flush()
      expect(end.result?.reason).toBe(isFailing ? 'journal_error' : 'suspended')
    }
  },
  async 'time that is up stops the model and the calls, which have results'() {
    const { slow, run, end, pass } = await timed()
    await pass(100)
    expect(slow.run('a').context.abortController.signal.reason).toBe('limit')
    expect(end.result).toMatchObject({ reason: 'limit', limit: 'durationMs', max: 100 })
    expect(inShort(run.transcript)).toHaveLength(4)
  },
  async 'time that is up stops the calls after the reply'() {
    const { held, slow, end, pass } = await timed()
    held.end('tool_use')
    await flush()
    await pass(100)
    expect(slow.run('a').context.abortController.signal.reason).toBe('limit')
    expect(end.result?.reason).toBe('limit')
  },
  async 'time that is up stops the calls of a reply that broke off'() {
    const { held, slow, end, pass } = await timed()
    held.fail(busy)
    await flush()
    await pass(100)
    expect(slow.run('a').context.abortController.signal.reason).toBe('limit')
    expect(end.result?.reason).toBe('limit')
  },
  async 'a run that stops at a limit and loses its session hands over nothing more'() {
    const log = new TestLog([])
    const slow = heldTool('Slow', { startWhen: 'closed' })
    const { held, clock, result, seen } = testQuery([slow.tool], { limits: { durationMs: 100 }, journal: log })
    const end = endOf(result)
    await flush()
    held.start()
    held.call('a', 'Slow')
    await flush()
    for (let n = 0; n < 10; n++) clock.increment(10)
    await flush()
    log.fail(new SignalboxError('session_fenced', 'Another owner.'))
    await flush()
    slow.run('a').finish()
    await flush()
    expect(end.result?.reason).toBe('journal_error')
    expect(seen.filter((each) => each.type === 'system' && each.subtype === 'result_not_recorded')).toEqual([])
  },
  async 'a limit ends a run that waits before its next attempt'() {
    const account = new Account({ limits: { calls: 0 } })
    const { held, result, run } = testQuery([], { account, retry: { backoffMs: 1_000 } })
    const end = endOf(result)
    await flush()
    held.start()
    held.fail(busy)
    await flush()
    expect(run.actor.getSnapshot().value).toBe('retrying')
    account.call(false)
    await flush()
    expect(end.result?.reason).toBe('limit')
  },
  async 'a limit ends a run that waits for a background call; time that is up stops the call'() {
    for (const isHard of [false, true]) {
      const account = new Account({ limits: { calls: 1 } })
      const slow = heldTool('Slow')
      const { held, run, result } = testQuery([slow.tool], { account })
      const end = endOf(result)
      await flush()
      held.start()
      held.call('a', 'Slow')
      held.end('tool_use')
      await flush()
      run.detach('a')
      await flush()
      held.start()
      held.text('meanwhile')
      held.end()
      await flush()
      expect(run.actor.getSnapshot().value).toBe('awaiting')
      const reached = { limit: 'durationMs', used: 9, max: 9 } as const
      if (isHard) run.actor.send({ type: 'limit.stop', reached })
      await flush()
      expect(run.background.list()[0]?.status).toBe(isHard ? 'stopping' : 'running')
      account.call(false)
      slow.run('a').finish({ data: 'late' })
      await flush()
      expect(end.result?.reason).toBe('limit')
    }
  },
  async 'without limits nothing is reserved'() {
    const made = query({ messages: 'go', tools: [], model: () => Promise.reject(new Error('x')) })
    const seen: unknown[] = []
    made.actor.subscribe(({ value }) => void seen.push(value))
    for await (const _ of made) void _
    expect(seen).not.toContain('reserving')
  },
}
