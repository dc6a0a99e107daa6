import type { Model } from './model.ts'

type Span = readonly [from: number, to: number]

/** Where the time of a conversation went. Time in which tools ran beside each other counts once. */
export interface TimeSplit {
  readonly whole: number
  readonly tools: number
  /** Calls waited for a person, and no tool ran. */
  readonly people: number
  /** The rest: the model, and what is between. */
  readonly model: number
  /** How long each tool ran in all its calls, the longest first. */
  readonly byTool: readonly { readonly name: string; readonly calls: number; readonly ms: number }[]
}

export function timeSplit({ runs, at }: Pick<Model, 'runs' | 'at'>): TimeSplit {
  const running: Span[] = []
  const asking: Span[] = []
  const byTool = new Map<string, { name: string; calls: number; ms: number }>()
  let [start, end] = [Number.POSITIVE_INFINITY, 0]
  for (const { calls, startedAt, said } of runs.values()) {
    start = Math.min(start, startedAt)
    end = Math.max(end, said.at(-1)?.until ?? 0)
    for (const { name, segments } of calls) {
      const total = byTool.get(name) ?? { name, calls: 0, ms: 0 }
      byTool.set(name, total)
      total.calls++
      for (const { path, from, to = at } of segments) {
        end = Math.max(end, to)
        if (path[0] !== 'executing') continue
        const isAsking = path[2] === 'asking' || path[2] === 'later'
        ;(isAsking ? asking : running).push([from, to])
        if (!isAsking) total.ms += to - from
      }
    }
  }
  const whole = Math.max(0, end - start)
  const tools = lengthOf(running)
  const people = lengthOf([...running, ...asking]) - tools
  return {
    whole,
    tools,
    people,
    model: Math.max(0, whole - tools - people),
    byTool: [...byTool.values()].sort((a, b) => b.ms - a.ms),
  }
}

/** The length of all spans together; where they overlap, it counts once. */
function lengthOf(spans: readonly Span[]): number {
  let [sum, until] = [0, Number.NEGATIVE_INFINITY]
  for (const [from, to] of [...spans].sort((a, b) => a[0] - b[0])) {
    sum += Math.max(0, to - Math.max(from, until))
    until = Math.max(until, to)
  }
  return sum
}
