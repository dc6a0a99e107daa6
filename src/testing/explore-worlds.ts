import type { Breach } from './invariant.ts'
import { makeMove, moveAgain, type PlayableWorld, retrace, stuck } from './playable-world.ts'
import { StateGraph } from './state-graph.ts'

export interface Budget {
  /** Ends the exploration after so many states. @default 20_000 */
  readonly maxStates?: number | undefined
  /** Ends the exploration after so many milliseconds. @default 60_000 */
  readonly maxMs?: number | undefined
  /** Where `maxMs` is read from. @default performance.now */
  readonly now?: (() => number) | undefined
}

export interface ExplorationFigures {
  /** How many different states were reached. */
  readonly states: number
  /** How many moves were made from them. */
  readonly transitions: number
  /** How many stories were told to an end, where nothing more can happen. */
  readonly paths: number
  /** The longest story. */
  readonly depth: number
  /** Every story of up to so many moves was told. */
  readonly wholeDepth: number
  /** Everything was seen. If not, `endedBecause` says which budget was used up. */
  readonly isComplete: boolean
  readonly endedBecause: 'complete' | 'breach' | 'maxStates' | 'maxMs'
  readonly elapsedMs: number
}

export interface Explored {
  readonly figures: ExplorationFigures
  readonly found: { readonly story: readonly string[]; readonly breaches: readonly Breach[] } | undefined
}

/**
 * Plays every order in which a world can go, breadth first, with equal states merged, each state reached anew from the
 * start. Everything is judged after every move, so the first breach has the shortest story.
 */
export async function exploreWorlds(
  begin: () => PlayableWorld,
  { maxStates = 20_000, maxMs = 60_000, now = () => performance.now() }: Budget,
): Promise<Explored> {
  const start = now()
  const seen = new StateGraph()
  let frontier: (readonly string[])[] = [[]]
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
  while (frontier.length > 0) {
    const next: (readonly string[])[] = []
    for (const story of frontier) {
      const here = await retrace(begin, story)
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
        if (seen.add(to, told, from)) next.push(told)
        if (seen.size >= maxStates) return end('maxStates')
      }
      if (!leadsSomewhere) paths++
    }
    wholeDepth++
    frontier = next
  }
  const dead = seen.deadEnd()
  return dead === undefined ? end('complete') : end('breach', { story: dead, breaches: [stuck] })
}

/** All of it in a line or more. */
export function explorationReport(figures: ExplorationFigures, breach?: { readonly text: string }): string {
  const { states, transitions, paths, depth, wholeDepth, endedBecause, elapsedMs } = figures
  const seconds = (elapsedMs / 1_000).toFixed(1)
  const line = `${states} states, ${transitions} transitions, ${paths} paths to an end, stories of up to ${depth} moves, ${seconds} s`
  if (breach !== undefined) return `${line}\n${breach.text}`
  if (endedBecause === 'complete') return `${line}: nothing is wrong`
  return `${line}: not all was seen (${endedBecause}). Nothing is wrong in any story of up to ${wholeDepth} moves; of the longer ones only some were told`
}
