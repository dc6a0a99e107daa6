import type { Frame } from '../frames/frame.ts'
import { type ComparedCall, compareSeen } from './compare-runs.ts'
import { type Branch, conversationTree } from './conversation-tree.ts'
import type { Difference } from './difference.ts'
import { readRuns, type SeenRuns } from './read-run.ts'
import type { SeenCall } from './seen-call.ts'

/** What turns used, and how they ended. */
export interface TurnSum {
  readonly turns: number
  readonly calls: number
  /** Calls that ended with an error or were stopped. */
  readonly failed: number
  /** From the start of the first turn to the last result or word; turns of agents are inside that of their call. */
  readonly ms: number
  readonly tokens: number
  /** Undefined if no reply has a price. */
  readonly costUsd: number | undefined
}

/** A turn of one conversation beside that of the other. */
export interface ComparedTurn {
  readonly a: OneTurn | undefined
  readonly b: OneTurn | undefined
  /** 0: a turn of the conversation itself. 1: of an agent, and so on. */
  readonly depth: number
  readonly calls: readonly ComparedCall[]
  /** The first difference; undefined if there is none. Times, tokens and cost do not count. */
  readonly difference: TurnDifference | undefined
}

export interface OneTurn extends TurnSum {
  /** The number of its run in the recording. */
  readonly run: number
  readonly title: string
}

export interface TurnDifference {
  readonly what: 'turn' | 'text' | Difference['what']
  /** The label of the call in which they part, if it is one. */
  readonly call: string | undefined
  readonly a: string
  readonly b: string
}

/** Two compared conversations. */
export interface ComparedConversations {
  readonly a: TurnSum
  readonly b: TurnSum
  /** Turns in order, those of an agent after the turn that it works for. */
  readonly turns: readonly ComparedTurn[]
  /** The position in `turns` of the first one that differs; -1 if none does. */
  readonly first: number
  /** How many turns differ. */
  readonly differences: number
}

/**
 * Compares two recorded conversations turn by turn: calls, outcomes, texts, times, tokens and cost, and where they part.
 *
 * @example
 * const { turns, first } = compareConversations(before, after)
 * if (first >= 0) console.log(turns[first]?.difference)
 */
export function compareConversations(a: Iterable<Frame>, b: Iterable<Frame>): ComparedConversations {
  return compareAllSeen(readRuns(a), readRuns(b))
}

interface Turn extends Branch<Turn> {}

export function compareAllSeen(a: SeenRuns, b: SeenRuns): ComparedConversations {
  // throws if there is no run at all
  for (const runs of [a, b]) if (runs.byNumber.size === 0) runs.get()
  const [ofA, ofB] = [a, b].map((runs) => conversationTree<Turn>(runs, (branch) => branch)) as [Turn[], Turn[]]
  const main = (turns: readonly Turn[]): Turn[] => turns.filter(({ depth }) => depth === 0)
  const turns = compareTurns(main(ofA), main(ofB))
  return {
    a: sumOf(ofA, main(ofA)),
    b: sumOf(ofB, main(ofB)),
    turns,
    first: turns.findIndex(({ difference }) => difference !== undefined),
    differences: turns.filter(({ difference }) => difference !== undefined).length,
  }
}

/** Turns are paired by their order, agents by the calls that they work for. */
function compareTurns(a: readonly Turn[], b: readonly Turn[]): ComparedTurn[] {
  const length = Math.max(a.length, b.length)
  return Array.from({ length }, (_, at) => compareTurn(a[at], b[at])).flat()
}

function compareTurn(a: Turn | undefined, b: Turn | undefined): ComparedTurn[] {
  const calls = a === undefined || b === undefined ? [] : compareSeen(a.seen, b.seen).calls
  const turn = {
    a: a && oneTurn(a),
    b: b && oneTurn(b),
    depth: (a ?? b)?.depth ?? 0,
    calls,
    difference: differenceOf(a, b, calls),
  }
  const agentsOf = (of: Turn | undefined, call: string | undefined): Turn[] =>
    call === undefined ? [] : (of?.agents ?? []).filter(({ parent }) => parent?.call === call)
  const inner =
    a === undefined || b === undefined
      ? compareTurns(a?.agents ?? [], b?.agents ?? [])
      : calls.flatMap((call) => compareTurns(agentsOf(a, call.a?.id), agentsOf(b, call.b?.id)))
  return [turn, ...inner]
}

function differenceOf(
  a: Turn | undefined,
  b: Turn | undefined,
  calls: readonly ComparedCall[],
): TurnDifference | undefined {
  const there = (turn: Turn | undefined): string => (turn === undefined ? 'not there' : 'there')
  if (a === undefined || b === undefined) return { what: 'turn', call: undefined, a: there(a), b: there(b) }
  const parting = calls.find(({ difference }) => difference !== undefined)
  if (parting?.difference !== undefined) return { ...parting.difference, call: (parting.a ?? parting.b)?.label }
  const [said, other] = [a.seen.text, b.seen.text]
  return said === other ? undefined : { what: 'text', call: undefined, ...partOf(said, other) }
}

const shown = 80

/** Both texts from a little before the place where they part. */
function partOf(a: string, b: string): { a: string; b: string } {
  let same = 0
  while (same < a.length && a[same] === b[same]) same++
  const from = Math.max(0, same - 20)
  const cut = (text: string): string => `${from > 0 ? '…' : ''}${text.slice(from, from + shown)}`
  return { a: cut(a), b: cut(b) }
}

const oneTurn = (turn: Turn): OneTurn => ({ run: turn.run, title: turn.seen.title, ...sumOf([turn], [turn]) })

function sumOf(turns: readonly Turn[], main: readonly Turn[]): TurnSum {
  let [calls, failed, tokens] = [0, 0, 0]
  let costUsd: number | undefined
  for (const { seen } of turns) {
    calls += seen.calls.length
    failed += seen.calls.filter(isFailed).length
    for (const { tokens: each, costUsd: cost } of seen.replies) {
      tokens += each.input + each.output + each.cacheRead + each.cacheWrite
      if (cost !== undefined) costUsd = (costUsd ?? 0) + cost
    }
  }
  let [start, end] = [Number.POSITIVE_INFINITY, 0]
  for (const { seen } of main) {
    start = Math.min(start, seen.startedAt)
    end = Math.max(end, seen.saidAt)
    for (const { endedAt = 0, yieldedAt = endedAt } of seen.calls) end = Math.max(end, yieldedAt)
  }
  return { turns: turns.length, calls, failed, ms: Math.max(0, end - start) / 1_000, tokens, costUsd }
}

const isFailed = ({ ending, results }: SeenCall): boolean =>
  ending?.by === 'abort' || results.some(({ isError }) => isError)
