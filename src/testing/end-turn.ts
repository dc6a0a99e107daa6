import type { HeldWorld } from './held-world.ts'
import type { Breach } from './invariant.ts'
import { movesOf } from './moves.ts'

export const stuck: Breach = {
  invariant: 'every turn ends',
  problem: 'whatever happens from here, the turn is never over',
}

/** Brings a turn to its end by moves that lead there, and says what did not hold on the way. */
export async function endTurn(
  world: HeldWorld,
  play: (move: string) => Promise<readonly Breach[]>,
): Promise<readonly Breach[]> {
  let breaches: readonly Breach[] = []
  // a body of the host's may wait at any number of places
  for (let left = world.bodies.isReal ? 1_000 : 20 * (world.setup.calls.length + 1); !world.isAtEnd; left--) {
    const points = new Set(world.bodies.points.map(({ name }) => name))
    const rankOf = (name: string): number => (points.has(name) ? beforeReading : towardsEnd(name))
    const name = [...movesOf(world).keys()].sort((a, b) => rankOf(a) - rankOf(b))[0]
    if (name === undefined || rankOf(name) === never || left === 0) return [stuck]
    breaches = await play(name)
    if (breaches.length > 0) return breaches
  }
  return breaches
}

const never = 100
const endings = [
  / arrives$/,
  / is released$/,
  /(is accepted|passes|allows|saves)$/,
  / finishes$/,
  /^results are taken$/,
  /^time passes$/,
  /^the reader leaves$/,
]
const beforeReading = 3

const towardsEnd = (name: string): number => {
  const at = endings.findIndex((ending) => ending.test(name))
  return at < 0 ? never : at
}
