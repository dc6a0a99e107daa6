import { describe, expect, it } from 'vitest'
import { lockWaitOf } from '../../inspector-app/src/model/lock-wait.ts'
import type { Call } from '../../inspector-app/src/model/model.ts'
import { reduce } from '../../inspector-app/src/model/reduce.ts'
import { callStatus } from '../../packages/cli/src/view/call-status.ts'
import { SessionView } from '../../packages/cli/src/view/session-view.ts'
import { allowAllTools, createLocks, createSession, type Resources } from '../../src/index.ts'
import { createRecorder, type Frame, type FrameOf } from '../../src/inspect/index.ts'
import { scriptedModel } from '../../src/query/scripted/index.ts'
import { subAgent } from '../../src/query/sub-agent/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush, testTurn } from '../support/turn.ts'

const keyed = (name = 'Edit') => heldTool(name, { resources: ({ reads, writes }) => ({ reads, writes }) as Resources })

/** What the page and the terminal say about a call that waits for a key. */
function toldOf(frames: readonly Frame[], id: string): { page: string | undefined; terminal: string } {
  const model = reduce(frames)
  const session = new SessionView()
  for (const frame of frames) session.take(frame)
  const calls = [...model.runs.values()].flatMap((run) => run.byId.get(id) ?? [])
  const view = session.find(id)
  return {
    page: lockWaitOf(model, calls.at(-1) as Call)?.words,
    terminal: view === undefined ? '' : callStatus(view, session).words,
  }
}

describe('a call that waits for a shared key', () => {
  const setUp = () => {
    const context = { locks: createLocks() }
    const edit = keyed()
    const turns = [1, 2, 3].map(() => testTurn([edit.tool], { context }))
    const frames: Frame[] = []
    const recorder = createRecorder({ onFrame: (frame) => frames.push(frame) })
    for (const turn of turns) recorder.watch(turn.executor)
    return { context, edit, turns, frames }
  }

  it('K6 K7 the page and the terminal say the key and who holds it, in the same words, until it is granted', async () => {
    const { edit, turns, frames } = setUp()
    turns[0]?.add('a', 'Edit', { writes: ['file:/x'] })
    turns[1]?.add('b', 'Edit', { writes: ['file:/x'] })
    turns[2]?.add('c', 'Edit', { reads: ['file:/x'] })
    await flush()
    const held = (by: string) => ({
      page: `waits for key file:/x, held by Edit (${by})`,
      terminal: `waits for key file:/x, held by Edit (${by})`,
    })
    expect(toldOf(frames, 'a')).toEqual({ page: undefined, terminal: 'runs' })
    expect(toldOf(frames, 'b')).toEqual(held('a'))
    expect(toldOf(frames, 'c')).toEqual(held('a'))
    // the holder of another executor ends: the next one holds it
    edit.run('a').finish()
    await flush()
    expect(toldOf(frames, 'b')).toEqual({ page: undefined, terminal: 'runs' })
    expect(toldOf(frames, 'c')).toEqual(held('b'))
    edit.run('b').finish()
    await flush()
    expect(toldOf(frames, 'c')).toEqual({ page: undefined, terminal: 'runs' })
    const told = frames.filter((frame): frame is FrameOf<'locks'> => frame.type === 'locks')
    expect(told.map(({ call, holders }) => [call, holders.map((each) => each.call).join()])).toEqual([
      ['b', 'a'],
      ['c', 'a'],
      ['b', ''],
      ['c', 'b'],
      ['c', ''],
    ])
  })

  it('K6 a call behind one that waits says so', async () => {
    const { turns, frames } = setUp()
    turns[0]?.add('a', 'Edit', { writes: ['file:/x'] })
    turns[1]?.add('b', 'Edit', { writes: ['file:/x', 'file:/y'] })
    turns[2]?.add('c', 'Edit', { writes: ['file:/y'] })
    await flush()
    expect(toldOf(frames, 'c').page).toBe('waits for key file:/y behind Edit (b)')
    expect(turns[2]?.executor.explain('c')).toMatchObject({ holders: [{ toolUseID: 'b', isWaiting: true }] })
  })

  it('K6 an aborted call says nothing more, and a recorder that comes late knows', async () => {
    const { context, edit, turns, frames } = setUp()
    turns[0]?.add('a', 'Edit', { writes: ['file:/x'] })
    turns[1]?.add('b', 'Edit', { writes: ['file:/x'] })
    await flush()
    const late: Frame[] = []
    const recorder = createRecorder({ onFrame: (frame) => late.push(frame) })
    if (turns[1] !== undefined) recorder.watch(turns[1].executor)
    expect(toldOf(late, 'b').page).toBe('waits for key file:/x, held by Edit (a)')
    turns[1]?.executor.abort('escape')
    await flush()
    for (const seen of [frames, late]) expect(toldOf(seen, 'b').page).toBeUndefined()
    edit.run('a').finish()
    await flush()
    expect(context.locks.holders()).toEqual([])
  })

  it('K6 names the session and the agent of the holder', async () => {
    const locks = createLocks()
    const edit = keyed()
    const call = (id: string) => [{ call: 'Edit', id, input: { writes: ['file:/x'] } }]
    const agent = subAgent({ name: 'Helper', tools: [edit.tool], model: scriptedModel([call('inner'), 'done']) })
    const options = { canUseTool: allowAllTools, context: { locks } }
    const task = [{ call: 'Helper', id: 'outer', input: { prompt: 'go' } }]
    const one = createSession({ ...options, id: 'invoice-7', tools: [agent], model: scriptedModel([task, 'done']) })
    const other = createSession({
      ...options,
      id: 'invoice-8',
      tools: [edit.tool],
      model: scriptedModel([call('waits'), 'done']),
    })
    const frames: Frame[] = []
    const recorder = createRecorder({ onFrame: (frame) => frames.push(frame) })
    other.on('run_started', ({ run }) => run.onExecutor((executor) => void recorder.watch(executor)))
    const views = [one.send('go')]
    await flush()
    views.push(other.send('go'))
    await flush()
    expect(locks.holders().map(({ session }) => session)).toEqual(['invoice-7', 'invoice-8'])
    const words = 'waits for key file:/x, held by Edit (inner) inside Helper of session invoice-7'
    expect(toldOf(frames, 'waits')).toEqual({ page: words, terminal: words })
    edit.run('inner').finish()
    await flush()
    edit.run('waits').finish()
    for (const view of views) for await (const _ of view);
    await Promise.all([one.close(), other.close()])
  })
})
