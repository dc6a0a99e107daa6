import { expect, it } from 'vitest'
import { reduce } from '../../inspector-app/src/model/reduce.ts'
import { timeSplit } from '../../inspector-app/src/model/time-split.ts'
import { createRecorder, type Frame } from '../../src/inspect/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush, takeAll, testTurn } from '../support/turn.ts'

it('splits the time of a run between model, tools and people; calls beside each other count once', async () => {
  let time = 0
  const frames: Frame[] = []
  const [read, write] = [heldTool('Read', { safe: true }), heldTool('Write')]
  const { executor, add } = testTurn([read.tool, write.tool], {
    canUseTool: ({ name }) => (name === 'Write' ? new Promise(() => undefined) : { behavior: 'allow' }),
  })
  createRecorder({ onFrame: (frame) => frames.push(frame), now: () => time }).watch(executor)
  time = 100
  add('a', 'Read')
  add('b', 'Read')
  time = 200
  read.run('a').finish()
  await flush()
  time = 250
  read.run('b').finish()
  await flush()
  add('c', 'Write')
  await flush()
  time = 400
  executor.answer('c', { behavior: 'allow' })
  await flush()
  time = 500
  write.run('c').finish()
  await flush()
  takeAll(executor)
  expect(timeSplit(reduce(frames))).toEqual({
    whole: 500,
    tools: 250,
    people: 150,
    model: 100,
    byTool: [
      { name: 'Read', calls: 2, ms: 250 },
      { name: 'Write', calls: 1, ms: 100 },
    ],
  })
})

it('adds up a run that is over once; its calls that never ended count until it was left, whenever somebody looks', async () => {
  let time = 0
  const frames: Frame[] = []
  const read = heldTool('Read', { safe: true })
  const recorder = createRecorder({ onFrame: (frame) => frames.push(frame), now: () => time })
  const [first, second] = [testTurn([read.tool]), testTurn([read.tool])]
  const { leave } = recorder.watch(first.executor)
  first.add('a', 'Read')
  await flush()
  time = 100
  leave()
  recorder.watch(second.executor)
  second.add('b', 'Read')
  await flush()
  time = 300
  read.run('b').finish()
  await flush()
  takeAll(second.executor)
  const model = reduce(frames)
  const late = timeSplit(model)
  expect(late).toMatchObject({ whole: 300, tools: 300, byTool: [{ name: 'Read', calls: 2, ms: 300 }] })
  // looked at early and late: the same
  const early = reduce(frames.slice(0, frames.findIndex(({ type }) => type === 'left') + 1))
  timeSplit(early)
  expect(timeSplit(reduce(frames.slice(frames.findIndex(({ type }) => type === 'left') + 1), early))).toEqual(late)
  // a run that goes on is added up again each time
  const [run] = [...model.runs.values()].slice(-1)
  const call = run?.calls[0]
  if (call === undefined) throw new Error('no call')
  for (const segment of call.segments) if (segment.path[0] === 'executing') segment.to = 200
  expect(timeSplit(model).tools).toBe(200)
  // and one that is over is not, even if its drawing is forgotten
  for (const each of model.runs.get(1)?.calls ?? []) each.segments.length = 0
  expect(timeSplit(model).tools).toBe(200)
})
