import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { Painter } from '../../inspector-app/src/painter.ts'

/** A browser whose clock is simulated: 60 animation frames per second, and drawing takes time. */
let now: number
let tasks: { at: number; run: () => void }[]
const picture = 1_000 / 60

beforeEach(() => {
  now = 0
  tasks = []
  vi.stubGlobal('performance', { now: () => now })
  vi.stubGlobal('requestAnimationFrame', (run: (now: number) => void) =>
    tasks.push({ at: (Math.floor(now / picture) + 1) * picture, run: () => run(now) }),
  )
  vi.stubGlobal('setTimeout', (run: () => void, ms: number) => {
    const task = { at: now + ms, run }
    tasks.push(task)
    return task
  })
  vi.stubGlobal('clearTimeout', (task: (typeof tasks)[number]) => {
    tasks = tasks.filter((each) => each !== task)
  })
})
afterEach(() => void vi.unstubAllGlobals())

function runUntil(end: number): void {
  for (;;) {
    const next = tasks.sort((a, b) => a.at - b.at)[0]
    if (next === undefined || next.at > end) break
    tasks.shift()
    now = Math.max(now, next.at)
    next.run()
  }
  now = Math.max(now, end)
}

it.each([
  [2, 50, 61],
  [40, 4, 6],
  [400, 1, 3],
])('draws frames that come all the time in a fifth of it: %i ms each, %i to %i drawings per second', (cost, least, most) => {
  let drawn = 0
  const painter = new Painter(() => {
    drawn++
    now += cost
  })
  for (let ms = 0; ms < 1_000; ms += 5) {
    painter.paintSoon()
    runUntil(ms)
  }
  expect(drawn).toBeGreaterThanOrEqual(least)
  expect(drawn).toBeLessThanOrEqual(most)
})

it('draws the last frames too, and what a person does at the next animation frame', () => {
  const drawn: number[] = []
  const painter = new Painter(() => {
    drawn.push(now)
    now += 40
  })
  painter.paint()
  runUntil(60)
  expect(drawn).toHaveLength(1)
  painter.paintSoon()
  painter.paintSoon()
  runUntil(90)
  expect(drawn).toHaveLength(1)
  painter.paint()
  runUntil(110)
  expect(drawn).toHaveLength(2)
  painter.paintSoon()
  runUntil(1_000)
  expect(drawn).toHaveLength(3)
})

it('draws again if a drawing asks for it, and when a person acts before the last drawing is measured', () => {
  const drawn: number[] = []
  const painter = new Painter(() => {
    drawn.push(now)
    if (drawn.length === 1) painter.paint()
    // a person acts right after the second drawing, before its task is over
    if (drawn.length === 2) tasks.push({ at: now, run: () => painter.paint() })
  })
  painter.paintSoon()
  runUntil(200)
  expect(drawn).toHaveLength(3)
  expect(drawn[2]).toBeLessThan(60)
})

it('draws nothing and leaves no timer once it is closed', () => {
  let drawn = 0
  const painter = new Painter(() => void drawn++)
  painter.paint()
  runUntil(10)
  painter.close()
  painter.paintSoon()
  runUntil(1_000)
  expect(drawn).toBe(0)
  expect(tasks).toEqual([])
})
