import { endTurn } from './end-turn.ts'
import { HeldWorld } from './held-world.ts'
import { type Breach, breachesInWords } from './invariant.ts'
import { type Moves, movesOf } from './moves.ts'
import { settled } from './settled.ts'
import type { TurnSetup } from './turn-setup.ts'

export interface PlayedTurn {
  readonly world: HeldWorld
  readonly moves: Moves
  /** The moves that could be made; others were not possible when it was their turn. */
  readonly story: readonly string[]
  /** What did not hold, after which move. */
  readonly breaches: readonly Breach[]
}

export interface PlayOptions {
  /** When the story is told, the turn is brought to its end; where that is not possible, it breaks a rule. @default false */
  readonly mustEnd?: boolean | undefined
  readonly onBegin?: ((world: HeldWorld) => void) | undefined
}

/**
 * Tells a story on the real executor: one move after the other, each time until nothing more can happen by itself. Moves
 * that are not possible when it is their turn are left out. Ends at the first breach.
 */
export async function playTurn(
  setup: TurnSetup,
  story: readonly string[],
  { mustEnd = false, onBegin }: PlayOptions = {},
): Promise<PlayedTurn> {
  const world = new HeldWorld(setup)
  onBegin?.(world)
  await settled()
  const told: string[] = []
  let breaches = world.breaches()
  let moves = movesOf(world)
  for (const name of story) {
    if (breaches.length > 0) break
    const move = moves.get(name)
    if (move === undefined) continue
    told.push(name)
    breaches = await makeMove(world, move)
    moves = movesOf(world)
  }
  const play = (name: string) => makeMove(world, movesOf(world).get(name) as () => void)
  if (mustEnd && breaches.length === 0) breaches = [...(await endTurn(world, play))]
  return { world, moves, story: told, breaches }
}

/** Goes a way that was gone before, without looking left or right. */
export async function retraceTurn(setup: TurnSetup, story: readonly string[]): Promise<HeldWorld> {
  const world = new HeldWorld(setup)
  await settled()
  for (const name of story) {
    world.catchUp()
    movesOf(world).get(name)?.()
    await settled()
  }
  world.catchUp()
  return world
}

/** Makes a move, lets everything run that follows from it, and says what does not hold then. */
export async function makeMove(world: HeldWorld, move: () => void): Promise<Breach[]> {
  try {
    move()
    await settled()
    const breaches = world.breaches()
    return breaches.length === 0 && world.isAtEnd ? atEndOf(world) : breaches
  } catch (error) {
    return [{ invariant: 'nothing throws', problem: messageOf(error) }]
  }
}

function atEndOf({ setup, book }: HeldWorld): Breach[] {
  if (book.run === 'discarded') return []
  try {
    setup.atEnd?.()
    return []
  } catch (error) {
    return [{ invariant: 'at the end', problem: messageOf(error) }]
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/**
 * Tells a story and throws where something does not hold: what a test that was found by `exploreTurn` or `simulate` does.
 */
export async function replayTurn(
  setup: TurnSetup,
  story: readonly string[],
  { mustEnd = false }: PlayOptions = {},
): Promise<void> {
  const played = await playTurn(setup, story, { mustEnd })
  if (played.breaches.length > 0) throw new Error(breachesInWords(played.breaches))
}
