import { describe, expect, it } from 'vitest'
import type { HookCallback, StreamingToolExecutor } from '../../src/index.ts'
import { collectWarnings, expectNoStrays, never, textOf } from '../cases/support.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush, isResult, resultOf, takeAll, testTurn } from '../support/turn.ts'
import { failureHooks, hookTurn, named, postHooks, preHooks, rough, says, told, toldOfOne } from './hook-turn.ts'

expectNoStrays()

const hangs = (signals: AbortSignal[]): HookCallback =>
  named(
    'sleeper',
    rough((_input, _id, { signal }) => {
      signals.push(signal)
      return never()
    }),
  )

const aborts: [string, (executor: StreamingToolExecutor, host: AbortController) => unknown, unknown][] = [
  ['escape', (executor) => executor.abort('escape'), 'escape'],
  ['the host’s controller', (_executor, host) => host.abort('quit'), 'quit'],
  ['an interrupt, where it stops at one', (executor) => executor.abort('interrupt'), 'interrupt'],
]

describe('an abort while hooks run before the call', () => {
  it.each(
    aborts,
  )('A4 Y6 %s: their signals abort, one result, and what was under way is on record', async (_, abort, reason) => {
    const signals: AbortSignal[] = []
    const { executor, add, tool, host } = hookTurn(
      preHooks(says({ additionalContext: 'said in time' }), hangs(signals)),
      { tool: { cancel: true } },
    )
    add('a', 'Tool')
    await flush()
    abort(executor, host)
    const { result, attachments, summary, order } = await toldOfOne(executor)
    expect(result).toMatchObject({ isError: true, toolUseResult: 'User rejected tool use' })
    expect(signals.map((signal) => [signal.aborted, signal.reason])).toEqual([[true, reason]])
    expect(attachments).toEqual([
      expect.objectContaining({ type: 'hook_additional_context', content: 'said in time' }),
      { type: 'hook_cancelled', hookEvent: 'PreToolUse', hookName: 'PreToolUse:sleeper' },
    ])
    expect(summary).toMatchObject({ hookCount: 2 })
    expect(order.at(-1)).toBe('stop_hook_summary')
    expect(tool.started).toEqual([])
  })

  it('A3 an interrupt does not reach a call that blocks', async () => {
    const signals: AbortSignal[] = []
    const { executor, add, clock } = hookTurn(preHooks(hangs(signals)))
    add('a', 'Tool')
    await flush()
    executor.abort('interrupt')
    await flush()
    expect(signals[0]?.aborted).toBe(false)
    clock.increment(60_000)
    expect((await toldOfOne(executor)).result.isError).toBe(true)
  })

  it('A2 a sibling’s error ends them with the sibling’s text', async () => {
    const signals: AbortSignal[] = []
    const bash = heldTool('Bash', { safe: true, cancelsSiblingsOnError: true })
    const { executor, add } = testTurn([bash.tool, heldTool('Read', { safe: true }).tool], {
      context: { hooks: { PreToolUse: [{ matcher: 'Read', hooks: [hangs(signals)] }] } },
    })
    add('a', 'Bash')
    add('b', 'Read')
    await flush()
    bash.run('a').fail(new Error('exit 1'))
    const { results, order } = await told(executor)
    expect(results[1]?.toolUseResult).toBe('Cancelled: parallel tool call Bash errored')
    expect(signals[0]?.reason).toBe('sibling_error')
    expect(order).toEqual(['result', 'result', 'hook_cancelled', 'stop_hook_summary'])
  })

  it('A5 the discard aborts them, and no result is delivered', async () => {
    const signals: AbortSignal[] = []
    const { executor, add } = hookTurn(preHooks(hangs(signals)))
    add('a', 'Tool')
    await flush()
    expect(executor.discard()).toEqual([{ id: 'a', name: 'Tool', started: false, completed: false }])
    expect((await told(executor)).order).toEqual([])
    expect(signals[0]?.reason).toBe('streaming_fallback')
  })

  it('A4 a hook’s reply or error after the abort is ignored', async () => {
    let say = (_output: unknown): void => undefined
    let fail = (_error: unknown): void => undefined
    const { executor, add, tool } = hookTurn(
      preHooks(
        rough(() => new Promise((resolve) => (say = resolve))),
        rough(() => new Promise((_resolve, reject) => (fail = reject))),
      ),
    )
    add('a', 'Tool')
    await flush()
    executor.abort('escape')
    say({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'allow' } })
    fail(new Error('too late to matter'))
    const { attachments } = await toldOfOne(executor)
    expect(attachments.map(({ type }) => type)).toEqual(['hook_cancelled', 'hook_cancelled'])
    expect(tool.started).toEqual([])
  })

  it('A4 P4 an abort while the tool checks a changed input: one result, the body never runs', async () => {
    const { executor, add, tool } = hookTurn(preHooks(says({ updatedInput: { isChanged: true } })), {
      tool: { validateInput: ({ isChanged }) => (isChanged === true ? never() : { result: true }) },
    })
    add('a', 'Tool')
    await flush()
    executor.abort('escape')
    const { order } = await toldOfOne(executor)
    expect(order).toEqual(['result', 'stop_hook_summary'])
    expect(tool.started).toEqual([])
  })
})

describe('an abort while hooks run after the call', () => {
  it.each(aborts)('A7 Y6 %s: the hooks are cancelled, the outcome stays', async (_, abort) => {
    const signals: AbortSignal[] = []
    const { executor, add, tool, host } = hookTurn(postHooks(hangs(signals)), { tool: { cancel: true } })
    add('a', 'Tool')
    tool.run('a').finish()
    await flush()
    expect(signals[0]?.aborted).toBe(false)
    abort(executor, host)
    const { result, order } = await toldOfOne(executor)
    expect(result).toMatchObject({ isError: false, content: 'a done' })
    expect(order).toEqual(['result', 'hook_cancelled', 'stop_hook_summary'])
    expect(signals[0]?.aborted).toBe(true)
  })

  it('A3 an interrupt does not cancel the hooks of a call that blocks', async () => {
    const signals: AbortSignal[] = []
    const { executor, add, tool, clock } = hookTurn(postHooks(hangs(signals)))
    add('a', 'Tool')
    tool.run('a').finish()
    await flush()
    executor.abort('interrupt')
    await flush()
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    clock.increment(60_000)
    expect((await toldOfOne(executor)).result).toMatchObject({ isError: false, content: 'a done' })
  })

  it('A7 a failure stays too', async () => {
    const { executor, add, tool } = hookTurn(failureHooks(hangs([])))
    add('a', 'Tool')
    tool.run('a').fail(new RangeError('of its own'))
    await flush()
    executor.abort('escape')
    const { result, order } = await toldOfOne(executor)
    expect(textOf(result)).toContain('of its own')
    expect(order).toEqual(['result', 'hook_cancelled', 'stop_hook_summary'])
  })

  it('A7 Y7 the modifier of a call whose hooks were cancelled still applies', async () => {
    const { executor, add, tool } = hookTurn(postHooks(hangs([])))
    add('a', 'Tool')
    tool.run('a').finish({ contextModifier: (context) => ({ ...context, mark: 'set' }) })
    await flush()
    executor.abort('escape')
    await flush()
    const updates = takeAll(executor)
    expect(updates.filter(isResult).map((update) => resultOf(update).content)).toEqual(['a done'])
    expect(updates.at(-1)?.newContext.mark).toBe('set')
  })

  it('A7 no warning and no second message: the body was not told to stop', async () => {
    const { executor, add, tool, clock } = hookTurn(postHooks(hangs([])))
    const warnings = collectWarnings(executor)
    add('a', 'Tool')
    tool.run('a').finish()
    await flush()
    executor.abort('escape')
    await flush()
    clock.increment(120_000)
    await toldOfOne(executor)
    expect(warnings.all).toEqual([])
  })
})
