import { SignalboxError } from '../errors/signalbox-error.ts'
import type { Breach } from './invariant.ts'
import type { Moves } from './moves.ts'
import { settled } from './settled.ts'

/** A world in which nothing happens until the story says so: a turn, or a whole query. */
export interface PlayableWorld {
  /** Everything that can happen next, by the words in which a story tells it. */
  moves(): Moves
  /** All that can make a difference to what happens next: worlds with the same fingerprint are taken for the same. */
  fingerprint(): string
  /** Nothing more has to happen. */
  readonly isAtEnd: boolean
  /** What does not hold now. */
  judge(): Breach[]
  /** Takes note of what happened, before anybody looks. */
  catchUp(): void
  /** How near a move brings it to its end, smaller is nearer; `never` for those that lead elsewhere. */
  rankOf(move: string): number
}

export const never = 100

/** Makes a move, lets everything run that follows from it, and says what does not hold then. */
export async function makeMove(world: PlayableWorld, move: () => void): Promise<Breach[]> {
  try {
    move()
    await settled()
    return world.judge()
  } catch (error) {
    return [{ invariant: 'nothing throws', problem: error instanceof Error ? error.message : String(error) }]
  }
}

/** The move of that name. It was possible before, so it is now, unless tools do things that the story knows nothing of. */
export function moveAgain(world: PlayableWorld, name: string): () => void {
  const move = world.moves().get(name)
  if (move !== undefined) return move
  throw new SignalboxError(
    'invalid_option',
    `Told again, the story went another way: "${name}" could not happen any more. Tools that are explored may wait for hold() alone, not for a timer, a file or a network, and have to begin anew in each story.`,
  )
}

/** Goes a way that was gone before, without looking left or right. */
export async function retrace<World extends PlayableWorld>(
  begin: () => World,
  story: readonly string[],
): Promise<World> {
  const world = begin()
  await settled()
  for (const name of story) {
    world.catchUp()
    moveAgain(world, name)()
    await settled()
  }
  world.catchUp()
  return world
}

export interface Told<World> {
  readonly world: World
  /** The moves that could be made; others were not possible when it was their turn. */
  readonly story: readonly string[]
  /** What did not hold, after the last of them. */
  readonly breaches: readonly Breach[]
}

export interface TellOptions<World> {
  /** When the story is told, everything is brought to its end; where that is not possible, it breaks a rule. @default false */
  readonly mustEnd?: boolean | undefined
  readonly onBegin?: ((world: World) => void) | undefined
}

/**
 * Tells a story: one move after the other, each time until nothing more can happen by itself. Moves that are not
 * possible when it is their turn are left out. Ends at the first breach.
 */
export async function tell<World extends PlayableWorld>(
  begin: () => World,
  story: readonly string[],
  { mustEnd = false, onBegin }: TellOptions<World> = {},
): Promise<Told<World>> {
  const world = begin()
  onBegin?.(world)
  await settled()
  const told: string[] = []
  let breaches: readonly Breach[] = world.judge()
  for (const name of story) {
    if (breaches.length > 0) break
    const move = world.moves().get(name)
    if (move === undefined) continue
    told.push(name)
    breaches = await makeMove(world, move)
  }
  if (mustEnd && breaches.length === 0) breaches = await bringToEnd(world)
  return { world, story: told, breaches }
}

export const stuck: Breach = {
  invariant: 'every turn ends',
  problem: 'whatever happens from here, the turn is never over',
}

const mostMoves = 2_000

/** Brings a world to its end by moves that lead there, and says what did not hold on the way. */
export async function bringToEnd(
  world: PlayableWorld,
  onMove: (name: string) => void = () => undefined,
): Promise<readonly Breach[]> {
  for (let left = mostMoves; !world.isAtEnd; left--) {
    const moves = world.moves()
    const [name] = [...moves.keys()].sort((a, b) => world.rankOf(a) - world.rankOf(b))
    if (name === undefined || world.rankOf(name) === never || left === 0) return [stuck]
    onMove(name)
    const breaches = await makeMove(world, moves.get(name) as () => void)
    if (breaches.length > 0) return breaches
  }
  return []
}
