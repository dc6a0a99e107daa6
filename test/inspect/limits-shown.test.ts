import { memoryJournals, openSession } from 'signalbox/durable'
import { createRecorder, type Frame, recordingOfSession, ShownRuns } from 'signalbox/inspect'
import { scriptedModel } from 'signalbox/scripted'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AnyTool, allowAllTools, defineTool, query } from '../../src/index.ts'

describe('limits in a recording', () => {
  it('U2 has the warning, the ending and the state that says it', async () => {
    const frames: Frame[] = []
    const shown = new ShownRuns()
    shown.begin(
      createRecorder({ onFrame: (frame) => frames.push(frame), prices: { scripted: { input: 1, output: 1 } } }),
    )
    const noop = defineTool({
      name: 'Noop',
      inputSchema: z.object({ n: z.number() }),
      call: async ({ n }) => ({ data: n }),
    }) as AnyTool
    const model = scriptedModel(
      Array.from({ length: 9 }, (_, n) => [
        { call: 'Noop', input: { n } },
        { stop: 'tool_use', usage: { input_tokens: 1_000_000, output_tokens: 0 } },
      ]),
    )
    const run = query({ messages: 'go', tools: [noop], model, canUseTool: allowAllTools, limits: { turns: 5 } })
    shown.add(run)
    for await (const _ of run) void _
    const said = frames.flatMap((frame) => (frame.type === 'said' && frame.by === 'host' ? [frame.text] : []))
    expect(said).toEqual([
      '80 % of limits.turns are used: 4 of 5.',
      'The run ended: limits.turns is reached, 5 of 5 are used.',
    ])
    const replies = frames.flatMap((frame) => (frame.type === 'reply' ? [frame] : []))
    expect(replies.map(({ tokens, costUsd }) => [tokens.input, costUsd])).toEqual(
      Array.from({ length: 5 }, () => [1_000_000, 1]),
    )
    expect(JSON.stringify(frames)).toContain('"limited"')
  })

  it('U2 a stored session shows the same ending', async () => {
    const journals = memoryJournals()
    const noop = defineTool({ name: 'Noop', inputSchema: z.object({}), call: async () => ({ data: 'ok' }) }) as AnyTool
    const session = await openSession({
      ...{ id: 's', journals, tools: [noop], canUseTool: allowAllTools, limits: { turns: 1 } },
      model: scriptedModel([[{ call: 'Noop', input: {} }], 'Never.']),
    })
    for await (const _ of session.send('go')) void _
    await session.close()
    const frames: Frame[] = []
    for await (const frame of recordingOfSession(journals, 's')) frames.push(frame)
    const said = frames.flatMap((frame) => (frame.type === 'said' && frame.by === 'host' ? [frame.text] : []))
    expect(said).toContain('The run ended: limits.turns is reached, 1 of 1 are used.')
    expect(JSON.stringify(frames)).toContain('"limited"')
  })
})
