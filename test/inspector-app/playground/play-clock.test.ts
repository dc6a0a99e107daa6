import { describe, expect, it, vi } from 'vitest'
import { PlayClock } from '../../../inspector-app/playground/play-clock.ts'

describe('the clock of the playground', () => {
  it('stands still until it is stepped, and then stops exactly at the next timer', () => {
    const clock = new PlayClock(1, true)
    const seen: [string, number][] = []
    clock.setTimeout(() => seen.push(['late', clock.now()]), 900)
    clock.setTimeout(() => {
      seen.push(['soon', clock.now()])
      clock.setTimeout(() => seen.push(['after', clock.now()]), 100)
    }, 250)
    clock.setMinorTimeout(() => seen.push(['tick', clock.now()]), 300)
    expect(clock.canStep).toBe(true)
    clock.step()
    expect(seen).toEqual([['soon', 250]])
    clock.step()
    expect(seen.slice(1)).toEqual([
      ['tick', 300],
      ['after', 350],
    ])
    clock.step()
    expect(seen.at(-1)).toEqual(['late', 900])
    expect(clock.canStep).toBe(false)
    clock.step()
    expect(clock.now()).toBe(900)
    clock.stop()
  })

  it('does not step to a distant timer, and does not run cleared timers', () => {
    const clock = new PlayClock(1, true)
    const run = vi.fn()
    clock.setTimeout(run, 120_000)
    clock.clearTimeout(clock.setTimeout(run, 10))
    expect(clock.canStep).toBe(false)
    clock.step()
    expect(run).not.toHaveBeenCalled()
    clock.stop()
  })

  it('runs by itself at its speed, and never past a due timer', () => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
    try {
      const clock = new PlayClock(2)
      const seen: number[] = []
      clock.setTimeout(() => seen.push(clock.now()), 1_000)
      clock.setTimeout(() => seen.push(clock.now()), 1_000)
      vi.advanceTimersByTime(499)
      expect([seen, clock.shown(), clock.now()]).toEqual([[], 998, 0])
      clock.catchUp()
      expect(clock.now()).toBe(998)
      vi.advanceTimersByTime(2)
      expect(seen).toEqual([1_000, 1_000])
      clock.setTimeout(() => seen.push(clock.now()), 400)
      clock.change({ speed: 0.5 })
      vi.advanceTimersByTime(400)
      clock.change({ isPaused: true })
      vi.advanceTimersByTime(10_000)
      expect([seen.length, Math.round(clock.shown())]).toEqual([2, 1_200])
      clock.change({ isPaused: false, speed: 4 })
      vi.advanceTimersByTime(60)
      expect(seen.at(-1)).toBe(1_400)
      clock.stop()
    } finally {
      vi.useRealTimers()
    }
  })
})
