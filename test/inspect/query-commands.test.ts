import { describe, expect, it } from 'vitest'
import { allowAllTools, query } from '../../src/index.ts'
import type { FrameOf } from '../../src/inspect/frames/frame.ts'
import { type Command, createRecorder, type Frame, foldRun, newRunState, ShownRuns } from '../../src/inspect/index.ts'
import { checkTranscript } from '../../src/transcripts/index.ts'
import { heldModel } from '../support/held-model.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush } from '../support/turn.ts'

function shownQuery() {
  const held = heldModel()
  const read = heldTool('Read', { safe: true, obedient: true })
  const block = heldTool('Block')
  const run = query({ messages: 'go', tools: [read.tool, block.tool], model: held.model, canUseTool: allowAllTools })
  const frames: Frame[] = []
  const shown = new ShownRuns(true)
  shown.begin(createRecorder({ onFrame: (frame) => void frames.push(frame) }))
  shown.add(run)
  const result = (async () => {
    for await (const _ of run);
    return run.result
  })()
  const command = (name: Command, at = 1, call?: string) =>
    shown.command({ run: at, command: name, call, isAllowed: false })
  const offered = () => frames.findLast((frame) => frame.type === 'can')?.commands
  return { held, read, block, run, result, command, offered, frames }
}

describe('commands from the inspector to a query', () => {
  it('L6 abort ends the query, and the model is not asked again', async () => {
    const { held, run, result, command, offered } = shownQuery()
    await flush()
    held.start()
    held.call('a', 'Read')
    held.end('tool_use')
    await flush()
    expect(offered()).toEqual(['interrupt', 'abort'])
    expect(command('abort')).toBeUndefined()
    expect(await result).toMatchObject({ reason: 'aborted_tools', abortReason: 'inspector' })
    expect(held.requests).toHaveLength(1)
    expect(checkTranscript(run.transcript).ok).toBe(true)
    expect(offered()).toEqual([])
  })

  it('L6 interrupt lets calls with block behaviour finish, then ends the query', async () => {
    const { held, block, result, command } = shownQuery()
    await flush()
    held.start()
    held.call('a', 'Block')
    held.end('tool_use')
    await flush()
    expect(command('interrupt')).toBeUndefined()
    await flush()
    block.run('a').finish()
    expect(await result).toMatchObject({ reason: 'aborted_tools', abortReason: 'interrupt' })
    expect(held.requests).toHaveLength(1)
  })

  it('X1 X10 detach sends a running call to the background, which a reader of the frames sees until it is delivered', async () => {
    const { held, block, run, result, command, frames } = shownQuery()
    await flush()
    held.start()
    held.call('a', 'Block')
    held.end('tool_use')
    await flush()
    for (const call of [undefined, 'nobody'])
      expect(command('detach', 1, call)).toContain('cannot go to the background')
    expect(command('detach', 1, 'a')).toBeUndefined()
    await flush()
    // a watcher of the next turn sees it too
    const stateOf = (at: number) => {
      const own = frames.filter((frame) => frame.run === at)
      const state = newRunState(own[0] as FrameOf<'run'>)
      const listener = { newActor: (actor: never) => actor, newCall: (call: never) => call }
      for (const frame of own) foldRun(state, frame, listener as never)
      return state
    }
    const shown = (at: number) => [...stateOf(at).background.values()].map(({ id, call, status }) => [id, call, status])
    expect([shown(1), shown(2)]).toEqual([[['bg_1', 'a', 'running']], [['bg_1', 'a', 'running']]])
    run.background.stop('bg_1')
    expect(shown(2)).toEqual([['bg_1', 'a', 'stopping']])
    block.run('a').finish()
    await flush()
    expect(shown(2)).toEqual([['bg_1', 'a', 'stopped']])
    held.start()
    held.text('meanwhile')
    held.end()
    await flush()
    expect(shown(2)).toEqual([])
    run.abort('enough')
    await result
  })

  it('L8 discard is neither offered nor accepted, because it would leave calls without results', async () => {
    const { held, read, run, result, command, offered } = shownQuery()
    await flush()
    held.start()
    held.call('a', 'Read')
    held.end('tool_use')
    await flush()
    expect(offered()).not.toContain('discard')
    expect(command('discard')).toContain('Stop the agent instead')
    read.run('a').finish()
    await flush()
    held.start()
    held.text('done')
    held.end()
    expect(await result).toMatchObject({ reason: 'completed' })
    expect(checkTranscript(run.transcript).ok).toBe(true)
  })
})
