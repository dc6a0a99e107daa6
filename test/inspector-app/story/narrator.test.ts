import { describe, expect, it } from 'vitest'
import { Narrator } from '../../../inspector-app/src/story/narrator.ts'
import { createRecorder, type Frame } from '../../../src/inspect/index.ts'
import { UnknownOutcomeError } from '../../../src/remote/index.ts'
import { heldTool } from '../../support/held-tool.ts'
import { flush, takeAll, testTurn } from '../../support/turn.ts'

type Options = Parameters<typeof testTurn>[1] & { readonly tools?: Parameters<typeof testTurn>[0] }

/** A turn, its frames, and the narrator's sentences. */
const setUp = ({ tools = [], ...options }: Options = {}, tick = 0) => {
  let time = 0
  let frames: Frame[] = []
  const read = heldTool('Read', { safe: true, cancel: true, obedient: true })
  const upload = heldTool('Upload', { safe: true })
  const write = heldTool('Write')
  const turn = testTurn([read.tool, upload.tool, write.tool, ...tools], options)
  createRecorder({ onFrame: (frame) => frames.push(frame), now: () => (time += tick) }).watch(turn.executor)
  const narrator = new Narrator()
  const told = async (): Promise<string[]> => {
    await flush()
    takeAll(turn.executor)
    const before = narrator.told.length
    narrator.take(frames)
    frames = []
    time += 10
    return narrator.told.slice(before).map(({ rule, text }) => `${rule} ${text}`)
  }
  return { ...turn, read, upload, write, told }
}

describe('the story', () => {
  it('D26 says that an outcome is unknown', async () => {
    const { add, read, told } = setUp()
    add('a', 'Read')
    await told()
    read.run('a').fail(new UnknownOutcomeError('gone'))
    expect(await told()).toContain('Y1 The result of #1 Read (outcome unknown) is handed over.')
  })

  it('says why each call starts or waits, as explain() does', async () => {
    const { add, read, write, executor, told } = setUp()
    add('a', 'Read')
    expect(await told()).toEqual(['Q4 #1 Read starts: nothing else runs.'])
    add('b', 'Read')
    expect(await told()).toEqual(['Q4 #2 Read starts beside #1 Read: all are safe.'])
    add('c', 'Write')
    add('d', 'Read')
    expect(executor.explain('c')).toMatchObject({ because: 'waitsForRunning', blockers: ['a', 'b'] })
    expect(executor.explain('d')).toMatchObject({ because: 'behindUnsafe', blockers: ['c'] })
    expect(await told()).toEqual([
      'Q4 #3 Write must run alone, waits for #1 Read and #2 Read.',
      'Q5 #4 Read waits behind #3 Write, which must run alone.',
    ])
    read.run('b').finish()
    expect(await told()).toEqual([
      'Q4 #3 Write must run alone, waits for #1 Read.',
      'Y1 #2 Read is finished but held: #1 Read comes first.',
    ])
    read.run('a').finish()
    expect(await told()).toEqual([
      'Q4 #3 Write starts alone: it is unsafe.',
      'Q4 #4 Read waits for #3 Write, which must run alone.',
      'Y1 The results of #1 Read and #2 Read are handed over, in order.',
    ])
    write.run('c').fail(new Error('no room'))
    expect(await told()).toEqual([
      'P8 #3 Write failed: Error: no room.',
      'Q4 #4 Read starts: nothing else runs.',
      'Y1 The result of #3 Write (an error) is handed over.',
    ])
  })

  it('says of a held call that never started that it is answered, not finished', async () => {
    const { add, told, read } = setUp()
    add('a', 'Read')
    add('b', 'Nobody')
    expect(await told()).toContain('Y1 #2 Nobody is answered but held: #1 Read comes first.')
    read.run('a').finish()
    await told()
  })

  it('says which calls an interrupt stops and which it does not', async () => {
    const { add, executor, told } = setUp()
    add('a', 'Read')
    add('b', 'Upload')
    add('c', 'Write')
    await told()
    executor.abort('interrupt')
    expect(await told()).toEqual([
      'A3 Interrupted: #1 Read must stop; #2 Upload and #3 Write may finish.',
      'Y6 #1 Read stops while it runs.',
      'Q4 #3 Write must run alone, waits for #2 Upload.',
      'Y1 The result of #1 Read (an error) is handed over.',
    ])
    executor.abort('escape')
    expect((await told())[0]).toBe('A4 Aborted: every unfinished call stops.')
    executor.discard()
    expect(await told()).toContain('A5 The run is discarded. No more results are handed over.')
  })

  it('reports a question once', async () => {
    const { add, executor, told } = setUp({ canUseTool: () => new Promise(() => undefined) })
    add('a', 'Read')
    expect(await told()).toContain(
      'P6 #1 Read asks for permission, because the mode is default. It counts as executing until you answer.',
    )
    add('b', 'Read')
    const next = await told()
    expect(next.filter((line) => line.startsWith('P6'))).toEqual([
      'P6 #2 Read asks for permission, because the mode is default. It counts as executing until you answer.',
    ])
    executor.answer('a', { behavior: 'deny', message: 'no' })
    expect(await told()).toContain('Y1 The result of #1 Read is handed over. It is an error: no.')
  })
})

describe('the story of real frames, each with a time of its own', () => {
  it('says each ending once, and which results are errors', async () => {
    const { add, executor, told, read } = setUp({}, 0.001)
    add('a', 'Read')
    add('b', 'Read')
    await told()
    read.run('b').fail(new Error('gone'))
    await flush()
    executor.abort('escape')
    expect(await told()).toEqual([
      'P8 #2 Read failed: Error: gone.',
      'Y1 #2 Read is finished but held: #1 Read comes first.',
      'A4 Aborted: every unfinished call stops.',
      'Y6 #1 Read stops while it runs.',
      'Y1 The result of #1 Read (an error) is handed over.',
      'Y1 The result of #2 Read (an error) is handed over.',
    ])
  })

  it('A3 names the calls that an interrupt stops before it has reached them', async () => {
    const { add, executor, told } = setUp({}, 0.001)
    add('a', 'Read')
    add('b', 'Upload')
    await told()
    executor.abort('interrupt')
    expect((await told())[0]).toBe('A3 Interrupted: #1 Read must stop; #2 Upload may finish.')
  })

  it('K3 says that calls run beside each other because of their resources, and P7 that one takes too long', async () => {
    const edit = heldTool('Edit', { safe: false })
    const slow = heldTool('Slow', { obedient: true })
    const tools = [
      { ...edit.tool, resources: (input: object) => ({ writes: [`file:${'of' in input ? input.of : ''}`] }) },
      { ...slow.tool, timeout: 50 },
    ]
    const { add, told, clock } = setUp({ tools }, 0.001)
    add('a', 'Edit', { of: 'a' })
    add('b', 'Edit', { of: 'b' })
    add('c', 'Edit', { of: 'a' })
    expect(await told()).toEqual([
      'Q4 #1 Edit starts: nothing else runs.',
      'K3 #2 Edit starts beside #1 Edit: their resources do not conflict.',
      'K3 #3 Edit waits for #1 Edit, which uses file:a.',
    ])
    for (const id of ['a', 'b']) edit.run(id).finish()
    await told()
    edit.run('c').finish()
    await told()
    add('d', 'Slow')
    await told()
    clock.increment(50)
    const [first, ...rest] = await told()
    expect(first).toBe('P7 #4 Slow takes longer than its timeout and is told to stop.')
    expect(rest.join()).toContain('is handed over. It is an error: Timeout')
  })
})
