import { scriptedModel } from 'signalbox/scripted'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { type AnyTool, allowAllTools, defineTool, query } from '../../../src/index.ts'
import { createRecorder, emptyRunModel, foldFrame, newServerState, ShownRuns } from '../../../src/inspect/index.ts'

it('X10 a background call that ends in a later turn has ended in its own turn and in those between', async () => {
  const model = emptyRunModel()
  const plain = { newActor: (state: never) => state, newCall: (state: never) => state }
  const shown = new ShownRuns()
  const recorder = createRecorder({
    onFrame: (frame) =>
      foldFrame(model, frame, {
        newRun: (state) => state,
        newServer: (_, server) => newServerState(server),
        run: plain as never,
        server: plain as never,
      }),
  })
  shown.begin(recorder)
  let end = (): void => undefined
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  const inputSchema = z.object({})
  const tools = [
    defineTool({
      ...{ name: 'Slow', inputSchema, isConcurrencySafe: () => true, background: { afterMs: 1 } },
      call: () => ended.then(() => ({ data: 'done' })),
    }),
    defineTool({ name: 'Look', inputSchema, call: async () => ({ data: 'seen' }) }),
    defineTool({ name: 'Free', inputSchema, call: async () => ({ data: end() ?? 'freed' }) }),
  ] as AnyTool[]
  const script = [[{ call: 'Slow' }], [{ call: 'Look' }], [{ call: 'Free' }], 'Done.', 'All done.']
  const run = query({ messages: 'go', tools, model: scriptedModel(script), canUseTool: allowAllTools })
  shown.add(run)
  for await (const _ of run) void _
  const runs = [...model.runs.values()]
  expect(runs.length).toBeGreaterThan(3)
  expect(runs.map(({ background }) => background.size)).toEqual(runs.map(() => 0))
  expect(runs[0]?.calls[0]?.detached).toMatchObject({
    ...{ id: 'bg_1', to: expect.any(Number), status: 'finished', fate: 'delivered' },
  })
  // and its chart, so that it can be drawn
  expect(runs[0]?.charts.get('background')?.nodes.map(({ key }) => key)).toContain('stopping')
})
