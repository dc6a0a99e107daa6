import { SignalboxError } from '../base/signalbox-error.ts'
import { flush } from './flush.ts'
import type { Breach } from './invariant.ts'
import type { Moves } from './moves.ts'

/** A world in which only the story makes things happen: a turn, or a whole query. */
export interface PlayableWorld {
  /** Everything that can happen next, by the move's name in a story. */
  moves(): Moves
  /** All state that can affect what happens next. Worlds with the same fingerprint are treated as equal. */
  fingerprint(): string
  /** The turn or query is over. */
  readonly isAtEnd: boolean
  /** The current breaches. */
  judge(): Breach[]
  /** Updates the evidence before it is checked. */
  catchUp(): void
  /** How directly a move leads to the end: smaller is more direct; `never` if it does not. */
  rankOf(move: string): number
}

export const never = 100

/** Makes a move, lets everything that follows from it run, and returns the breaches. */
export async function makeMove(world: PlayableWorld, move: () => void): Promise<Breach[]> {
  try {
    move()
    await flush()
    return world.judge()
  } catch (error) {
    return [{ invariant: 'nothing throws', problem: error instanceof Error ? error.message : String(error) }]
  }
}

/** The move with this name. A replayed move is always possible, unless a tool does work that the story does not control. */
export function moveAgain(world: PlayableWorld, name: string): () => void {
  const move = world.moves().get(name)
  if (move !== undefined) return move
  throw new SignalboxError(
    'invalid_option',
    `The replayed story took a different course: "${name}" is no longer possible. Explored tools may wait only for hold(), not for a timer, a file or a network, and must keep no state between stories.`,
  )
}

/** Replays known moves without checking invariants. */
export async function retrace<World extends PlayableWorld>(
  begin: () => World,
  story: readonly string[],
): Promise<World> {
  const world = begin()
  await flush()
  for (const name of story) {
    world.catchUp()
    moveAgain(world, name)()
    await flush()
  }
  world.catchUp()
  return world
}

export interface Told<World> {
  readonly world: World
  /** The moves that were made; impossible ones are skipped. */
  readonly story: readonly string[]
  /** The breaches after the last move. */
  readonly breaches: readonly Breach[]
}

export interface TellOptions<World> {
  /** After the story, bring everything to its end. If that is impossible, that is a breach. @default false */
  readonly mustEnd?: boolean | undefined
  readonly onBegin?: ((world: World) => void) | undefined
}

/**
 * Plays a story, move by move. After each move, everything that follows from it runs first. Moves that are not possible
 * at their turn are skipped. Stops at the first breach.
 */
export async function tell<World extends PlayableWorld>(
  begin: () => World,
  story: readonly string[],
  { mustEnd = false, onBegin }: TellOptions<World> = {},
): Promise<Told<World>> {
  const world = begin()
  onBegin?.(world)
  await flush()
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
  problem: 'no sequence of moves from here ends the turn',
}

const { setTimeout: timeout } = globalThis
const patienceMs = 250

/** The breach of a world that cannot end. Throws if the reason is a body that does real work. */
export async function stuckWorld(world: PlayableWorld): Promise<readonly Breach[]> {
  const before = world.fingerprint()
  for (let waited = 0; waited < patienceMs; waited += 10) {
    await new Promise((resolve) => timeout(resolve, 10))
    world.catchUp()
    if (world.fingerprint() === before) continue
    throw new SignalboxError(
      'invalid_option',
      'The turn continued without a move: a body waits for a timer, a file or a network. Explored tools may wait only for hold().',
    )
  }
  return [stuck]
}

const mostMoves = 2_000

/** Makes moves until the world ends, and returns the breaches on the way. */
export async function bringToEnd(
  world: PlayableWorld,
  onMove: (name: string) => void = () => undefined,
): Promise<readonly Breach[]> {
  for (let left = mostMoves; !world.isAtEnd; left--) {
    const moves = world.moves()
    const [name] = [...moves.keys()].sort((a, b) => world.rankOf(a) - world.rankOf(b))
    if (name === undefined || world.rankOf(name) === never || left === 0) return stuckWorld(world)
    onMove(name)
    const breaches = await makeMove(world, moves.get(name) as () => void)
    if (breaches.length > 0) return breaches
  }
  return []
}
