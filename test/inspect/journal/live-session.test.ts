import { describe, expect, it } from 'vitest'
import { allowAllTools } from '../../../src/index.ts'
import { createRecorder, type Frame, ShownRuns } from '../../../src/inspect/index.ts'
import { lives, replyWith, sayLast, startReply } from '../../support/durable-lives.ts'
import { heldTool } from '../../support/held-tool.ts'

describe('the inspector on a session that goes on', () => {
  it('D26 says from where and by whom it is recovered, and marks results of the log and unknown outcomes', async () => {
    const [write, slow] = [heldTool('Write', { safe: true }), heldTool('Slow', { safe: true })]
    const world = lives([write.tool, slow.tool], { canUseTool: allowAllTools })
    const first = await world.begin()
    first.session.send('go')
    await replyWith(first, ['w', 'Write'], ['s', 'Slow'])
    write.run('w').finish()
    await world.written('call.completed')

    const second = await world.begin()
    const frames: Frame[] = []
    const shown = new ShownRuns()
    shown.begin(createRecorder({ onFrame: (frame) => frames.push(frame) }))
    second.session.on('run_started', ({ run }) => shown.add(run))
    second.session.resume()
    await sayLast(second)
    await second.session.whenIdle()
    const runs = () => frames.flatMap((frame) => (frame.type === 'run' ? [frame] : []))
    expect(runs()[0]?.recovered).toEqual({ session: 's', from: 'life 1', by: 'life 2' })
    const endings = frames.flatMap((frame) => (frame.type === 'ending' ? [[frame.call, frame.by]] : []))
    expect(endings).toEqual([
      ['w', 'journal'],
      ['s', 'unknown'],
    ])
    // the next turn is this process's own, and so is the next run
    second.session.send('more')
    await sayLast(second)
    await second.session.whenIdle()
    expect(runs().length).toBeGreaterThan(1)
    for (const { recovered } of runs().slice(1)) expect(recovered).toBeUndefined()
  })

  it('D11 D26 says that a reply of the run before was discarded, though that is before the first turn', async () => {
    const world = lives([], { canUseTool: allowAllTools })
    const life = await world.begin()
    const { session, held } = life
    const said: unknown[] = []
    const shown = new ShownRuns()
    const onFrame = (frame: Frame) => frame.type === 'said' && said.push([frame.run, frame.by, frame.text])
    shown.begin(createRecorder({ onFrame }))
    session.on('run_started', ({ run }) => shown.add(run))
    session.send('go')
    await startReply(life)
    held.text('Half')
    held.call('r', 'Read')
    await world.written('reply.block')
    await session.suspend()
    session.resume()
    await sayLast(life)
    await session.whenIdle()
    const why = 'The reply failed: The session stopped before the reply was complete. The model is asked again.'
    expect(said).toEqual([
      [1, 'user', 'go'],
      [1, 'model', 'Half'],
      [2, 'user', 'go'],
      [2, 'host', why],
      [2, 'model', 'Done.'],
    ])
  })

  it('D26 a session that nobody left unfinished is not recovered', async () => {
    const world = lives([])
    const first = await world.begin()
    first.session.send('go')
    await sayLast(first)
    await first.session.whenIdle()
    const second = await world.begin()
    const recovered: unknown[] = []
    second.session.on('run_started', ({ run }) => recovered.push(run.recovered))
    second.session.send('more')
    await sayLast(second)
    expect(recovered).toEqual([undefined])
  })
})
