import { HeldWorld } from './held-world.ts'
import { breachesInWords } from './invariant.ts'
import type { Moves } from './moves.ts'
import { type TellOptions, type Told, tell } from './playable-world.ts'
import type { TurnSetup } from './turn-setup.ts'

export interface PlayedTurn extends Told<HeldWorld> {
  readonly moves: Moves
}

/**
 * Tells a story on the real executor: one move after the other, each time until nothing more can happen by itself. Moves
 * that are not possible when it is their turn are left out. Ends at the first breach.
 */
export async function playTurn(
  setup: TurnSetup,
  story: readonly string[],
  options?: TellOptions<HeldWorld>,
): Promise<PlayedTurn> {
  const told = await tell(() => new HeldWorld(setup), story, options)
  return { ...told, moves: told.world.moves() }
}

/**
 * Tells a story and throws where something does not hold: what a test that was found by `exploreTurn` or `simulate` does.
 */
export async function replayTurn(
  setup: TurnSetup,
  story: readonly string[],
  { mustEnd = false }: Pick<TellOptions<HeldWorld>, 'mustEnd'> = {},
): Promise<void> {
  const { breaches } = await playTurn(setup, story, { mustEnd })
  if (breaches.length > 0) throw new Error(breachesInWords(breaches))
}
