import { expect } from 'vitest'
import {
  type AnyTool,
  allowAllTools,
  createAssistantMessage,
  type QueryOptions,
  StreamingToolExecutor,
} from '../../../src/index.ts'
import type { SessionRecord } from '../../../src/journal/records.ts'
import { type HeldTool, heldTool } from '../../support/held-tool.ts'
import { blockRecord, openedReply, startedRecord, stoppedRecord } from '../../support/log-records.ts'
import { testQuery } from '../../support/query.ts'
import { TestLog } from '../../support/test-log.ts'
import { flush, stateOf, toolUse } from '../../support/turn.ts'

const parts = (
  tools: readonly AnyTool[],
  options: Partial<QueryOptions> = {},
  before: readonly SessionRecord[] = [],
) => {
  const log = new TestLog(before)
  const messages = before.length > 0 ? log.fold.transcript.messages : 'go'
  return { ...testQuery(tools, { messages, journal: log, ...options }), log }
}

/** A call that is about to start, while nothing becomes durable. */
const held = async (tool: HeldTool, options: Partial<QueryOptions> = {}) => {
  const run = parts([tool.tool], options)
  await flush()
  run.held.start()
  run.log.hold()
  run.held.call('w', tool.tool.name)
  run.held.end('tool_use')
  await flush()
  return run
}

/** Calls that were running when the process stopped. */
const recovered = async (tools: readonly HeldTool[], options: Partial<QueryOptions> = {}) => {
  const calls = tools.map(({ tool: { name } }) => [name.toLowerCase(), name] as const)
  const run = parts(
    tools.map(({ tool }) => tool),
    options,
    [
      ...openedReply(...calls.map(([id, name]) => blockRecord(id, name))),
      ...calls.map(([id]) => startedRecord(id)),
      stoppedRecord,
    ],
  )
  await flush()
  return run
}

type Run = ReturnType<typeof parts>

const results = ({ run, seen }: Run): string[] =>
  [...seen, ...run.transcript].flatMap((message) =>
    message.type === 'user' && 'sourceToolAssistantUUID' in message ? [JSON.stringify(message.message)] : [],
  )

const unknown = expect.stringContaining('It may or may not have taken effect')

/** What is durable before a body begins and before a result leaves; and calls that an earlier process began. */
export const durableCallsScenarios: Record<string, () => Promise<void>> = {
  async 'a call with effects begins when its start is durable, whatever phases it comes from'() {
    const hook = { PreToolUse: [{ hooks: [async () => ({})] }] }
    const kinds: [string, HeldTool, Partial<QueryOptions>][] = [
      ['plain', heldTool('Write'), {}],
      ['validated', heldTool('Write', { validateInput: () => ({ result: true }) }), {}],
      ['hooked', heldTool('Write'), { context: { hooks: hook } }],
      ['decided', heldTool('Write'), { context: { permissions: { allow: ['Write'] } } }],
      ['asked', heldTool('Write'), { canUseTool: () => ({ behavior: 'allow' }) }],
    ]
    for (const [kind, tool, options] of kinds) {
      const { log } = await held(tool, options)
      expect([kind, tool.started, log.types.includes('call.started')]).toEqual([kind, [], true])
      log.release()
      await flush()
      expect([kind, tool.started]).toEqual([kind, ['w']])
    }
  },
  async 'a call that was answered later begins when the answer and its start are durable'() {
    const tool = heldTool('Write', { startWhen: 'closed' })
    const { run, held: model, log } = parts([tool.tool], { canUseTool: () => ({ behavior: 'later' }) })
    await flush()
    model.start()
    model.call('w', 'Write')
    await flush()
    log.hold()
    run.executor.answer('w', { behavior: 'allow' })
    await flush()
    expect([tool.started, log.types.slice(-2)]).toEqual([[], ['permission.answered', 'call.started']])
    log.release()
    await flush()
    expect(tool.started).toEqual(['w'])
  },
  async 'while its start is recorded, a call can be stopped; it can also fail to be recorded'() {
    const aborted = heldTool('Write')
    const first = await held(aborted)
    first.run.abort('escape')
    first.log.release()
    await flush()
    expect([aborted.started, results(first).length]).toEqual([[], 2])
    for (const cancel of [true, false]) {
      const tool = heldTool('Write', { cancel })
      const { run, log } = await held(tool)
      run.interrupt()
      await flush()
      log.release()
      await flush()
      expect(tool.started).toEqual(cancel ? [] : ['w'])
    }
    const unrecorded = heldTool('Write')
    const last = await held(unrecorded)
    last.log.fail()
    await flush()
    expect([unrecorded.started, last.run.result?.reason]).toEqual([[], 'journal_error'])
  },
  async 'a call whose start cannot be recorded is over, also without a query around it'() {
    const log = new TestLog()
    const write = heldTool('Write')
    const executor = new StreamingToolExecutor(
      [write.tool],
      allowAllTools,
      {},
      {},
      { log: { log, atRest: () => undefined } },
    )
    log.hold()
    executor.addTool(toolUse('w', 'Write'), createAssistantMessage([toolUse('w', 'Write')]))
    await flush()
    log.fail()
    await flush()
    expect([write.started, stateOf(executor, 'w')]).toEqual([[], 'completed'])
  },
  async 'a result leaves when it is durable, and not at all if it never is'() {
    const kept = heldTool('Read', { safe: true })
    const first = await held(kept)
    first.log.release()
    await flush()
    first.log.hold()
    kept.run('w').finish()
    await flush()
    expect([results(first), stateOf(first.run.executor, 'w')]).toEqual([[], 'completed'])
    const { executor } = first.run
    first.log.release()
    await flush()
    expect([results(first).length, stateOf(executor, 'w')]).toEqual([2, 'yielded'])
    const lost = heldTool('Read', { safe: true })
    const second = await held(lost)
    second.log.release()
    await flush()
    second.log.hold()
    lost.run('w').finish()
    await flush()
    second.log.fail()
    await flush()
    expect([results(second), stateOf(second.run.executor, 'w')]).toEqual([[], 'yielded'])
  },
  async 'a call that was running runs again, has a result of its own, or an outcome that nobody knows'() {
    const again = heldTool('A', { recover: () => 'again' })
    const found = heldTool('B', { recover: () => ({ data: 'found' }) })
    const formatted = heldTool('C', { recover: () => ({ data: { found: true } }) })
    const lost = heldTool('D')
    const run = await recovered([again, found, formatted, lost])
    expect(again.started).toEqual(['a'])
    again.run('a').finish()
    await flush()
    expect(results(run).slice(0, 4)).toEqual([
      expect.stringContaining('a done'),
      expect.stringContaining('found'),
      expect.stringContaining('{\\"found\\":true}'),
      unknown,
    ])
    expect([found.started, formatted.started, lost.started]).toEqual([[], [], []])
  },
  async 'hooks see the result that a tool has found'() {
    const seen: unknown[] = []
    const hooks = { PostToolUse: [{ hooks: [async (input: unknown) => void seen.push(input)] }] }
    await recovered([heldTool('B', { recover: () => ({ data: 'found' }) })], { context: { hooks } })
    expect(seen).toMatchObject([{ tool_response: 'found' }])
  },
  async 'an unknown outcome counts as a failure for the calls beside it'() {
    for (const cancelsSiblingsOnError of [true, false]) {
      const lost = heldTool('D', { cancelsSiblingsOnError })
      const beside = heldTool('E')
      const run = parts([lost.tool, beside.tool], {}, [
        ...openedReply(blockRecord('d', 'D'), blockRecord('e', 'E'), startedRecord('d')),
        stoppedRecord,
      ])
      await flush()
      expect([beside.started, results(run)[0]]).toEqual([cancelsSiblingsOnError ? [] : ['e'], unknown])
    }
  },
  async 'a call that was running and is stopped has an outcome that nobody knows, wherever it waits'() {
    const never = (): Promise<never> => new Promise(() => undefined)
    const first = await recovered([heldTool('A', { recover: never }), heldTool('B', { recover: never })])
    first.run.abort('escape')
    await flush()
    expect(results(first).slice(0, 2)).toEqual([unknown, unknown])
    for (const cancel of [true, false]) {
      const tools = [heldTool('A', { recover: never, cancel }), heldTool('B', { recover: never, cancel })]
      const second = await recovered(tools)
      second.run.interrupt()
      await flush()
      expect(results(second).slice(0, 2)).toEqual(cancel ? [unknown, unknown] : [])
    }
  },
  async 'a call that waits in the queue and is stopped did not run'() {
    const run = parts([heldTool('Write').tool])
    await flush()
    run.held.start()
    run.held.call('a', 'Write')
    run.held.call('b', 'Write')
    run.held.end('tool_use')
    await flush()
    run.run.abort('escape')
    run.clock.increment(5_000)
    await flush()
    expect(results(run)[1]).toContain('cancelled before it started')
    const interrupted = parts([heldTool('Slow').tool, heldTool('Write', { cancel: true }).tool])
    await flush()
    interrupted.held.start()
    interrupted.held.call('a', 'Slow')
    interrupted.held.call('b', 'Write')
    interrupted.held.end('tool_use')
    await flush()
    interrupted.run.interrupt()
    await flush()
    interrupted.run.abort('escape')
    interrupted.clock.increment(5_000)
    await flush()
    expect(results(interrupted)[1]).toContain('cancelled before it started')
  },
}
