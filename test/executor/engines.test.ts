import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool, isSignalboxError, StreamingToolExecutor } from '../../src/index.ts'
import { toolUse } from '../support/turn.ts'

const read = defineTool({
  name: 'Read',
  inputSchema: z.object({}),
  isConcurrencySafe: () => true,
  call: async () => ({ data: 'ok' }),
})

describe.each(['table', 'xstate'] as const)('an executor on the engine %s', (engine) => {
  it('Q1 Y1 runs its calls and hands over their results', async () => {
    const executor = new StreamingToolExecutor([read], undefined, {}, { engine })
    for (const id of ['a', 'b']) executor.addTool(toolUse(id, 'Read'), undefined as never)
    const ids: string[] = []
    for await (const { message } of executor.getRemainingResults()) {
      if (message.type === 'user') ids.push(JSON.stringify(message.message.content))
    }
    expect(ids).toEqual([expect.stringContaining('"a"'), expect.stringContaining('"b"')])
  })

  it('refuses to persist its actors, and says what to do instead', () => {
    const executor = new StreamingToolExecutor([read], undefined, {}, { engine })
    executor.addTool(toolUse('a', 'Read'), undefined as never)
    const actors = [executor.actor, executor.actor.getSnapshot().context.run.calls[0]?.ref]
    for (const actor of actors) {
      let thrown: unknown
      try {
        ;(actor as typeof executor.actor).getPersistedSnapshot()
      } catch (error) {
        thrown = error
      }
      expect(isSignalboxError(thrown) && [thrown.code, thrown.message]).toEqual([
        'not_persistable',
        expect.stringContaining('createRecorder'),
      ])
    }
  })

  it('A5 is discarded by the event as well as by the method', () => {
    const executor = new StreamingToolExecutor([read], undefined, {}, { engine })
    executor.addTool(toolUse('a', 'Read'), undefined as never, { hold: true })
    executor.actor.send({ type: 'abort.streamingFallback' })
    expect(executor.explain('a')).toEqual({ ok: false, because: 'discarded', blockers: [] })
    expect([...executor.getCompletedResults()]).toEqual([])
    expect(executor.discard()).toEqual([{ id: 'a', name: 'Read', started: false, completed: true }])
  })
})

it('rejects an unknown engine', () => {
  expect(() => new StreamingToolExecutor([], undefined, {}, { engine: 'rocket' as never })).toThrow(/engine/)
})
