import { aFunction, anIntegerFrom, positiveMilliseconds } from '../base/option-rules.ts'
import type { Breach } from './invariant.ts'
import type { OptionRules } from './option-rules.ts'
import { makeMove, moveAgain, type PlayableWorld, retrace, stuckWorld } from './playable-world.ts'
import { StateGraph } from './state-graph.ts'

export interface Budget {
  /** Stops after this many states. @default 20_000 */
  readonly maxStates?: number | undefined
  /** Stops after this many milliseconds. @default 60_000 */
  readonly maxMs?: number | undefined
  /** The clock for `maxMs`. @default performance.now */
  readonly now?: (() => number) | undefined
}

export const budgetRules: OptionRules<Budget> = {
  maxStates: anIntegerFrom(1),
  maxMs: positiveMilliseconds,
  now: aFunction,
}

export interface ExplorationFigures {
  /** The number of distinct states reached. */
  readonly states: number
  /** The number of moves made from them. */
  readonly transitions: number
  /** The number of stories that reached an end. */
  readonly paths: number
  /** The length of the longest story. */
  readonly depth: number
  /** Every story of up to this many moves was explored. */
  readonly wholeDepth: number
  /** Every state was explored. If not, `endedBecause` names the exhausted budget. */
  readonly isComplete: boolean
  readonly endedBecause: 'complete' | 'breach' | 'maxStates' | 'maxMs'
  readonly elapsedMs: number
}

export interface Explored {
  readonly figures: ExplorationFigures
  readonly found: { readonly story: readonly string[]; readonly breaches: readonly Breach[] } | undefined
}

/** A state whose moves are still to be made. */
interface Waiting {
  readonly story: readonly string[]
  /** The world that reached it first. Its first move continues this world; every other move replays the story. */
  readonly live: PlayableWorld | undefined
}

/** More worlds at once would take too much memory; the states beyond are replayed. */
const maxLive = 500

/**
 * Explores every order of events in a world, breadth first, merging equal states and replaying from the start to reach
 * a state again. Invariants are checked after every move, so the first breach has the shortest story.
 */
export async function exploreWorlds(
  begin: () => PlayableWorld,
  { maxStates = 20_000, maxMs = 60_000, now = () => performance.now() }: Budget,
  mostLive = maxLive,
): Promise<Explored> {
  const start = now()
  const seen = new StateGraph()
  let [transitions, paths, depth, wholeDepth] = [0, 0, 0, 0]
  const end = (endedBecause: ExplorationFigures['endedBecause'], found?: Explored['found']): Explored => ({
    figures: {
      states: seen.size,
      transitions,
      paths,
      depth,
      wholeDepth,
      isComplete: endedBecause === 'complete',
      endedBecause,
      elapsedMs: now() - start,
    },
    found,
  })

  const first = await retrace(begin, [])
  const breaches = first.judge()
  if (breaches.length > 0) return end('breach', { story: [], breaches })
  seen.add(first.fingerprint(), [])
  let frontier: Waiting[] = [{ story: [], live: first }]
  while (frontier.length > 0) {
    const next: Waiting[] = []
    for (let waiting = frontier.shift(); waiting !== undefined; waiting = frontier.shift()) {
      const { story, live } = waiting
      const here = live ?? (await retrace(begin, story))
      here.catchUp()
      const from = here.fingerprint()
      if (here.isAtEnd) seen.isEnd(from)
      let leadsSomewhere = false
      let spare: PlayableWorld | undefined = here
      for (const name of [...here.moves().keys()]) {
        if (now() - start > maxMs) return end('maxMs')
        const world = spare ?? (await retrace(begin, story))
        spare = undefined
        transitions++
        const wrong = await makeMove(world, moveAgain(world, name))
        const told = [...story, name]
        depth = Math.max(depth, told.length)
        if (wrong.length > 0) return end('breach', { story: told, breaches: wrong })
        const to = world.fingerprint()
        leadsSomewhere ||= to !== from
        if (seen.add(to, told, from)) next.push({ story: told, live: next.length < mostLive ? world : undefined })
        if (seen.size >= maxStates) return end('maxStates')
      }
      if (!leadsSomewhere) paths++
    }
    wholeDepth++
    frontier = next
  }
  const dead = seen.deadEnd()
  if (dead === undefined) return end('complete')
  return end('breach', { story: dead, breaches: await stuckWorld(await retrace(begin, dead)) })
}

/** A summary as text. */
export function explorationReport(figures: ExplorationFigures, breach?: { readonly text: string }): string {
  const { states, transitions, paths, depth, wholeDepth, endedBecause, elapsedMs } = figures
  const seconds = (elapsedMs / 1_000).toFixed(1)
  const line = `${states} states, ${transitions} transitions, ${paths} complete paths, up to ${depth} moves, ${seconds} s`
  if (breach !== undefined) return `${line}\n${breach.text}`
  if (endedBecause === 'complete') return `${line}: no breach found`
  return `${line}: incomplete (${endedBecause} reached). No breach in any story of up to ${wholeDepth} moves; longer stories were explored only in part`
}
