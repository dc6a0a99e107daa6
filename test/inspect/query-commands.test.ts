import { describe, expect, it } from 'vitest'
import { allowAllTools, query } from '../../src/index.ts'
import { createRecorder, type Frame, ShownRuns } from '../../src/inspect/index.ts'
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
  const command = (name: 'interrupt' | 'abort' | 'discard', at = 1) =>
    shown.command({ run: at, command: name, call: undefined, isAllowed: false })
  const offered = () => frames.findLast((frame) => frame.type === 'can')?.commands
  return { held, read, block, run, result, command, offered }
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
