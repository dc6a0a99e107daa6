import { stuck } from './end-turn.ts'
import { fingerprintOf } from './fingerprint.ts'
import { type FoundStory, foundStory } from './found-story.ts'
import type { Breach } from './invariant.ts'
import { movesOf } from './moves.ts'
import { makeMove, playTurn, retraceTurn } from './play-turn.ts'
import { shrinkStory } from './shrink-story.ts'
import { StateGraph } from './state-graph.ts'
import type { TurnSetup } from './turn-setup.ts'

export interface ExploreOptions extends TurnSetup {
  /** Ends the exploration after so many states. @default 20_000 */
  readonly maxStates?: number | undefined
  /** Ends the exploration after so many milliseconds. @default 60_000 */
  readonly maxMs?: number | undefined
  /** Where `maxMs` is read from. @default performance.now */
  readonly now?: (() => number) | undefined
}

export interface Exploration {
  /** How many different states were reached. */
  readonly states: number
  /** How many moves were made from them. */
  readonly transitions: number
  /** How many stories were told to an end, where nothing more can happen. */
  readonly paths: number
  /** The longest story. */
  readonly depth: number
  /** Everything was seen. If not, `endedBecause` says which budget was used up. */
  readonly isComplete: boolean
  readonly endedBecause: 'complete' | 'breach' | 'maxStates' | 'maxMs'
  readonly elapsedMs: number
  /** What did not hold, with the shortest story that leads there. */
  readonly breach: FoundStory | undefined
  /** All of this in a line or more. */
  readonly report: string
}

/**
 * Plays every order in which a small turn can go, on the real executor and its real charts: breadth first, with equal
 * states merged, each state reached anew from the start. Every invariant is checked after every move, so the first
 * breach has the shortest story.
 *
 * @example
 * const { breach } = await exploreTurn({ tools, calls: [{ tool: 'Read' }, { tool: 'Edit' }, { tool: 'Read' }] })
 * if (breach) throw new Error(breach.text)
 */
export async function exploreTurn(options: ExploreOptions): Promise<Exploration> {
  const { maxStates = 20_000, maxMs = 60_000, now = () => performance.now(), ...setup } = options
  const begin = now()
  const seen = new StateGraph()
  let frontier: (readonly string[])[] = []
  let [transitions, paths, depth] = [0, 0, 0]

  const end = async (
    endedBecause: Exploration['endedBecause'],
    found?: { story: readonly string[]; breaches: readonly Breach[] },
  ): Promise<Exploration> => {
    const breach = found && foundStory(await shrinkStory(setup, found.story, found.breaches))
    const figures = {
      states: seen.size,
      transitions,
      paths,
      depth,
      isComplete: endedBecause === 'complete',
      endedBecause,
      elapsedMs: now() - begin,
    }
    return { ...figures, breach, report: reportOf(figures, breach) }
  }

  const first = await playTurn(setup, [])
  if (first.breaches.length > 0) return end('breach', first)
  seen.add(fingerprintOf(first.world), [])
  frontier.push([])
  while (frontier.length > 0) {
    const next: (readonly string[])[] = []
    for (const story of frontier) {
      const here = await retraceTurn(setup, story)
      const from = fingerprintOf(here)
      if (here.isAtEnd) seen.isEnd(from)
      let leadsSomewhere = false
      let spare: typeof here | undefined = here
      for (const name of [...movesOf(here).keys()]) {
        if (now() - begin > maxMs) return end('maxMs')
        const world = spare ?? (await retraceTurn(setup, story))
        spare = undefined
        transitions++
        const breaches = await makeMove(world, movesOf(world).get(name) as () => void)
        const told = [...story, name]
        depth = Math.max(depth, told.length)
        if (breaches.length > 0) return end('breach', { story: told, breaches })
        const to = fingerprintOf(world)
        leadsSomewhere ||= to !== from
        if (seen.add(to, told, from)) next.push(told)
        if (seen.size >= maxStates) return end('maxStates')
      }
      if (!leadsSomewhere) paths++
    }
    frontier = next
  }
  const dead = seen.deadEnd()
  return dead === undefined ? end('complete') : end('breach', { story: dead, breaches: [stuck] })
}

type Figures = Omit<Exploration, 'breach' | 'report'>

function reportOf(
  { states, transitions, paths, depth, endedBecause, elapsedMs }: Figures,
  breach?: FoundStory,
): string {
  const seconds = (elapsedMs / 1_000).toFixed(1)
  const line = `${states} states, ${transitions} transitions, ${paths} paths to an end, stories of up to ${depth} moves, ${seconds} s`
  if (breach !== undefined) return `${line}\n${breach.text}`
  return endedBecause === 'complete' ? `${line}: nothing is wrong` : `${line}: not all was seen (${endedBecause})`
}
