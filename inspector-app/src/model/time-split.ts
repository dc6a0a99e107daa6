import type { Model, Run } from './model.ts'

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

type ToolTime = TimeSplit['byTool'][number]

/** The share of one run. */
interface Part {
  readonly running: readonly Span[]
  readonly asking: readonly Span[]
  readonly end: number
  readonly byTool: readonly ToolTime[]
}

export function timeSplit({ runs, at }: Pick<Model, 'runs' | 'at'>): TimeSplit {
  const running: Span[] = []
  const asking: Span[] = []
  const byTool = new Map<string, ToolTime>()
  let [start, end] = [Number.POSITIVE_INFINITY, 0]
  for (const run of runs.values()) {
    const part = partOf(run, at)
    start = Math.min(start, run.startedAt)
    end = Math.max(end, part.end)
    for (const span of part.running) running.push(span)
    for (const span of part.asking) asking.push(span)
    for (const { name, calls, ms } of part.byTool) {
      const sum = byTool.get(name)
      byTool.set(name, { name, calls: calls + (sum?.calls ?? 0), ms: ms + (sum?.ms ?? 0) })
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

/** A run that is over does not change: it is added up once. */
const known = new WeakMap<Run, Part>()

function partOf(run: Run, at: number): Part {
  const part = known.get(run) ?? addUp(run, run.leftAt ?? at)
  if (!run.isWatched) known.set(run, part)
  return part
}

function addUp({ calls, said }: Run, at: number): Part {
  const running: Span[] = []
  const asking: Span[] = []
  const byTool = new Map<string, { name: string; calls: number; ms: number }>()
  let end = said.at(-1)?.until ?? 0
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
  return { running: joined(running), asking: joined(asking), end, byTool: [...byTool.values()] }
}

/** The same time in as few spans as possible. */
function joined(spans: Span[]): Span[] {
  const found: [from: number, to: number][] = []
  for (const [from, to] of spans.sort((a, b) => a[0] - b[0])) {
    const last = found.at(-1)
    if (last !== undefined && from <= last[1]) last[1] = Math.max(last[1], to)
    else found.push([from, to])
  }
  return found
}

/** The length of all spans together; where they overlap, it counts once. */
const lengthOf = (spans: readonly Span[]): number =>
  joined([...spans]).reduce((sum, [from, to]) => sum + Math.max(0, to - from), 0)
