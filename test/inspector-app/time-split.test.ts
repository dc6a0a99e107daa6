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
