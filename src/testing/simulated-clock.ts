import type { Clock } from '../pipeline/clock.ts'

export interface SimulatedClock extends Clock {
  now(): number
  /** Lets time pass: what is due runs, in order of its time, then of its setting. */
  increment(ms: number): void
  /** How many timers are set. */
  readonly pending: number
  /** How long until the next timer is due; undefined where none is set. */
  readonly nextDueIn: number | undefined
  /** How long until each timer is due, soonest first: what the future of this clock depends on. */
  readonly dueIn: readonly number[]
}

interface Timer {
  readonly id: number
  readonly due: number
  readonly fn: () => void
}

/** A clock that stands still until the test lets time pass. Hand it in as the option `clock`. */
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
          // a timer that was set just now may come before the rest
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
