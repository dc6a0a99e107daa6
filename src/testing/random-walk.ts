import { flush } from './flush.ts'
import type { Breach } from './invariant.ts'
import { bringToEnd, makeMove, type PlayableWorld } from './playable-world.ts'

export interface Walk {
  readonly story: readonly string[]
  readonly breaches: readonly Breach[]
}

/** Makes random moves, then brings the world to its end. Stops at the first breach. */
export async function randomWalk(
  world: PlayableWorld,
  maxMoves: number,
  random: () => number,
  weightOf: (move: string) => number,
): Promise<Walk> {
  await flush()
  const story: string[] = []
  let breaches: readonly Breach[] = world.judge()
  const length = Math.floor(random() * maxMoves)
  while (breaches.length === 0 && story.length < length) {
    const moves = world.moves()
    if (moves.size === 0) break
    const name = weighted([...moves.keys()], random, weightOf)
    story.push(name)
    breaches = await makeMove(world, moves.get(name) as () => void)
  }
  if (breaches.length === 0) breaches = await bringToEnd(world, (name) => story.push(name))
  return { story, breaches }
}

function weighted(names: readonly string[], random: () => number, weightOf: (name: string) => number): string {
  let left = random() * names.reduce((sum, name) => sum + weightOf(name), 0)
  for (const name of names) {
    left -= weightOf(name)
    if (left < 0) return name
  }
  return names.at(-1) as string
}

export const pickFrom = <Item>(items: readonly Item[], random: () => number): Item =>
  items[Math.floor(random() * items.length)] as Item
