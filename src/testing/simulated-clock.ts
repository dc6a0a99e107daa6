import type { Clock } from '../base/clock.ts'

export interface SimulatedClock extends Clock {
  now(): number
  /** Lets time pass. Due timers run in order of their time, then of creation. */
  increment(ms: number): void
  /** The number of pending timers. */
  readonly pending: number
  /** The time until the next timer; undefined if none is pending. */
  readonly nextDueIn: number | undefined
  /** The time until each pending timer, soonest first. */
  readonly dueIn: readonly number[]
}

interface Timer {
  readonly id: number
  readonly due: number
  readonly fn: () => void
}

/** A clock that stands still until the test lets time pass. Pass it as the option `clock`. */
export function simulatedClock(startsAt = 0): SimulatedClock {
  const timers = new Map<number, Timer>()
  let time = startsAt
  let ids = 0
  const inOrder = (): Timer[] => [...timers.values()].sort((a, b) => a.due - b.due || a.id - b.id)
  const dueUntil = (end: number): Timer[] => inOrder().filter(({ due }) => due <= end)
  return {
    now: () => time,
    setTimeout(fn, ms) {
      const id = ++ids
      timers.set(id, { id, due: time + Math.max(0, ms), fn })
      return id
    },
    clearTimeout: (id) => void timers.delete(id as number),
    increment(ms) {
      const end = time + ms
      for (let due = dueUntil(end); due.length > 0; due = dueUntil(end)) {
        const known = ids
        for (const timer of due) {
          if (!timers.delete(timer.id)) continue
          time = Math.max(time, timer.due)
          timer.fn()
          // a timer that was just set may be due before the rest
          if (ids !== known) break
        }
      }
      time = end
    },
    get pending() {
      return timers.size
    },
    get nextDueIn() {
      const next = inOrder()[0]
      return next && next.due - time
    },
    get dueIn() {
      return inOrder().map(({ due }) => due - time)
    },
  }
}
