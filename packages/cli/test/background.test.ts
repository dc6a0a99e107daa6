import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AnyTool, defineTool } from '../../../src/index.ts'
import { checkFrame, createRecorder, type Frame } from '../../../src/inspect/index.ts'
import { scriptedModel } from '../../../src/query/scripted/index.ts'
import { heldTool } from '../../../test/support/held-tool.ts'
import { testQuery } from '../../../test/support/query.ts'
import { flush } from '../../../test/support/turn.ts'
import { DetachKey } from '../src/run/detach-key.ts'
import { runSession } from '../src/run/run-session.ts'
import { callStatus } from '../src/view/call-status.ts'
import { nameOf } from '../src/view/call-view.ts'
import { colorsFor } from '../src/view/colors.ts'
import { SessionView } from '../src/view/session-view.ts'
import { fakeIo } from './fake-io.ts'

/** `Slow` goes to the background; `Release` lets what runs there end. */
function slowTools(end: () => { data: string }): readonly AnyTool[] {
  let release = (): void => undefined
  const released = new Promise<void>((resolve) => {
    release = resolve
  })
  const slow = defineTool({
    name: 'Slow',
    inputSchema: z.object({}),
    call: async (_input, context) => {
      context.detach?.()
      await released
      return end()
    },
  })
  const goOn = defineTool({
    name: 'Release',
    inputSchema: z.object({}),
    call: async () => {
      release()
      return { data: 'released' }
    },
  })
  return [slow, goOn] as AnyTool[]
}

async function play(output: 'auto' | 'json', end: () => { data: string }) {
  const { io, printed } = fakeIo()
  const model = scriptedModel([[{ call: 'Slow' }], [{ call: 'Release' }], 'It ended.'])
  const permissions = { mode: 'bypassPermissions' as const }
  await runSession({ prompt: 'go', model, modelName: 'script', tools: slowTools(end), permissions, output }, io)
  return printed.out
}

describe('a background call in the terminal', () => {
  it('X10 has a line when it goes on, and one for its outcome', async () => {
    const out = await play('auto', () => ({ data: 'built' }))
    const lines = out.split('\n')
    const goesOn = lines.findIndex((line) => line.includes('#1 Slow · goes on in the background'))
    const ended = lines.findIndex((line) => line.includes('#1 Slow in the background (bg_1) has finished.'))
    expect([goesOn >= 0, ended > goesOn]).toEqual([true, true])
    expect(out).toContain('Running in the background as bg_1.')
    expect(out).toContain('It ended.')
  })

  it('X10 says that it failed', async () => {
    const fail = (): never => {
      throw new Error('no space left')
    }
    expect(await play('auto', fail)).toContain('#1 Slow in the background (bg_1) has failed.')
  })

  it('X10 as JSON: its call is delivered, and its outcome is a message of its own', async () => {
    const out = await play('json', () => ({ data: 'built' }))
    const lines = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(
      lines.filter(({ type, id }) => type === 'call' && id === lines.find(({ name }) => name === 'Slow')?.id).at(-1),
    ).toMatchObject({ phase: 'delivered', words: 'goes on in the background', isError: false })
    const outcomes = lines.filter(({ message }) => message?.background !== undefined)
    expect(outcomes.map(({ message }) => message.background)).toMatchObject([{ id: 'bg_1', status: 'finished' }])
  })

  it('X1 the key b sends the call that has run longest to the background', () => {
    const detached: string[] = []
    const view = new SessionView()
    const call = (id: string, index: number, ranAt: number) => {
      const body = { type: 'call', call: id, actor: id, index, name: 'Slow', label: `Slow(${id})`, input: {} } as const
      view.take({ seq: 0, at: ranAt, run: 1, ...body, lane: 'shared', stage: 'executing', stopsAtInterrupt: false })
      Object.assign(view.find(id) ?? {}, { state: 'calling', ranAt })
    }
    view.take({ seq: 0, at: 0, run: 1, type: 'run', title: 'turn', isLate: false, maxConcurrency: 10, root: 'x' })
    const key = new DetachKey(view, nameOf, (id) => detached.push(id) > 0)
    const press = (text: string) => key.press({ text, name: text, isCtrlC: false })
    const lines = (now: number) => key.lines({ columns: 200, colors: colorsFor({}, { NO_COLOR: '1' }), now })
    expect([press('b'), lines(10_000)]).toEqual([false, []])
    call('two', 0, 2_000)
    call('one', 1, 1_000)
    expect([lines(3_000), press('c')]).toEqual([[], false])
    expect(lines(4_000)).toEqual([
      '',
      'b sends #2 Slow to the background: the conversation goes on, and its result comes later.',
    ])
    expect([press('b'), detached]).toEqual([true, ['one']])
  })

  it('X10 reads every frame of a recording with one, and shows it as it was', async () => {
    const slow = heldTool('Slow')
    const { run, held, result } = testQuery([slow.tool])
    const frames: Frame[] = []
    const recorder = createRecorder({ onFrame: (frame) => frames.push(frame), now: () => 0 })
    recorder.watch(run.executor)
    run.onExecutor((executor) => void recorder.watch(executor))
    await flush()
    held.start()
    held.call('a', 'Slow')
    held.end('tool_use')
    await flush()
    run.detach('a')
    await flush()
    slow.run('a').progress('half')
    slow.run('a').finish()
    for (const text of ['meanwhile', 'done']) {
      await flush()
      held.start()
      held.text(text)
      held.end()
    }
    expect(await result).toMatchObject({ reason: 'completed' })
    expect(frames.filter((frame) => typeof checkFrame(JSON.parse(JSON.stringify(frame))) === 'string')).toEqual([])
    // the turn in which it was made, the one that goes on without it, and the one that hears of it
    const statuses = (of: number) =>
      frames.flatMap((frame) => (frame.type === 'background' && frame.run === of ? [frame.status] : []))
    expect([1, 2].map(statuses)).toEqual([
      ['running', 'finished', 'delivered'],
      ['running', 'finished', 'delivered'],
    ])
    expect(frames.filter(({ type }) => type === 'ending')).toMatchObject([{ call: 'a', by: 'background' }])
    const view = new SessionView()
    for (const frame of frames) view.take(frame)
    const call = view.find('a')
    expect(call && callStatus(call, view)).toMatchObject({ phase: 'delivered', words: 'goes on in the background' })
  })
})
