import { describe, expect, it } from 'vitest'
import { createRecorder, type Frame } from '../../src/inspect/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush, takeAll, testTurn } from '../support/turn.ts'

const setUp = () => {
  const read = heldTool('Read', { safe: true })
  const turn = testTurn([read.tool])
  return { ...turn, read }
}
const typesOf = (frames: readonly Frame[]): string[] => frames.map(({ type }) => type)

describe('an additional listener', () => {
  it('gets everything if it is added before the first run', () => {
    const { executor, add } = setUp()
    const [kept, followed]: [Frame[], Frame[]] = [[], []]
    const recorder = createRecorder({ onFrame: (frame) => kept.push(frame) })
    recorder.follow((frame) => followed.push(frame))
    recorder.watch(executor)
    add('a', 'Read')
    expect(followed).toEqual(kept)
    expect(typesOf(followed).filter((type) => type === 'head')).toHaveLength(1)
  })

  it('begins with the current state if it is added later, and then gets the same frames', async () => {
    const { executor, add, read } = setUp()
    const [kept, followed]: [Frame[], Frame[]] = [[], []]
    const recorder = createRecorder({ onFrame: (frame) => kept.push(frame) })
    recorder.watch(executor)
    add('a', 'Read')
    await flush()
    const before = kept.length
    recorder.follow((frame) => followed.push(frame))
    const picture = followed.splice(0)
    expect(typesOf(picture).slice(0, 2)).toEqual(['head', 'run'])
    expect(picture.find(({ type }) => type === 'call')).toMatchObject({ call: 'a', stage: 'executing' })
    read.run('a').finish()
    await flush()
    takeAll(executor)
    expect(followed).toEqual(kept.slice(before))
    expect(typesOf(followed)).toContain('result')
  })

  it('leaves nothing behind, and its errors do not affect the turn', () => {
    const { executor, add } = setUp()
    const seen: Frame[] = []
    const recorder = createRecorder()
    recorder.follow(() => {
      throw new Error('mine')
    })
    const leave = recorder.follow((frame) => seen.push(frame))
    recorder.watch(executor)
    add('a', 'Read')
    expect(seen.length).toBeGreaterThan(5)
    leave()
    const { length } = seen
    add('b', 'Read')
    expect(seen).toHaveLength(length)
    expect(executor.actor.getSnapshot().value).toEqual({ gate: 'shared', run: 'clear' })
  })

  it('must be a function', () => {
    expect(() => createRecorder().follow('me' as never)).toThrow('onFrame: expected a function, received "me"')
  })
})
