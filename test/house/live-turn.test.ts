import { describe, expect, it } from 'vitest'
import { LiveTurn } from '../../examples/live-turn/turn.ts'
import { clip, drawScene, type Paint } from '../../examples/live-turn/view.ts'

const plain: Paint = (_, text) => text

describe('npm start', () => {
  it('Y1 shows the queue, both lanes, what is held for order, and every result in order', async () => {
    const pictures: string[][] = []
    const turn: LiveTurn = new LiveTurn(() => pictures.push(drawScene(turn.scene, plain, 100)), 50)
    await turn.run()
    const all = pictures.map((lines) => lines.join('\n'))
    expect(all.some((picture) => /^queue .*wants the line to itself, waits for/m.test(picture))).toBe(true)
    expect(all.some((picture) => /^shared .*Read/m.test(picture))).toBe(true)
    expect(all.some((picture) => /^exclusive .*Write/m.test(picture))).toBe(true)
    expect(all.some((picture) => picture.includes('finished, held for order'))).toBe(true)
    const results = all.at(-1)?.match(/ \d [✓✗] \w+/g)
    expect(results).toEqual([
      ' 1 ✓ Read',
      ' 2 ✓ Read',
      ' 3 ✓ Grep',
      ' 4 ✗ Fetch',
      ' 5 ✓ Write',
      ' 6 ✗ Deploy',
      ' 7 ✓ Read',
      ' 8 ✓ Edit',
      ' 9 ✓ Read',
    ])
  })

  it('never writes past the edge of a narrow terminal', async () => {
    const widths: number[] = []
    const turn: LiveTurn = new LiveTurn(() => {
      widths.push(...drawScene(turn.scene, plain, 40).map((line) => Array.from(line).length))
    }, 100)
    await turn.run()
    expect(Math.max(...widths)).toBeLessThanOrEqual(40)
    expect(clip('\x1b[31mabcdef\x1b[0m', 3)).toBe('\x1b[31mab…\x1b[0m')
  })

  it('A4 an abort in the middle leaves one result per call', async () => {
    let isAborted = false
    const turn: LiveTurn = new LiveTurn(() => {
      if (isAborted || turn.scene.run.calls.length < 5) return
      isAborted = true
      turn.abort('escape')
    }, 100)
    await turn.run()
    const { run, results } = turn.scene
    expect(results.size).toBe(run.calls.length)
  })
})
