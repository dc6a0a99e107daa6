import type { Breach } from './invariant.ts'
import { playTurn } from './play-turn.ts'
import { stuck } from './playable-world.ts'
import { idOf, type PlannedCall, type TurnSetup } from './turn-setup.ts'

export interface Broken<Setup = TurnSetup> {
  readonly setup: Setup
  readonly story: readonly string[]
  readonly breaches: readonly Breach[]
}

/**
 * The smallest story that breaks the same invariant. Removes moves in ever smaller pieces, then calls, until nothing
 * more can be removed.
 */
export async function shrinkStory(
  given: TurnSetup,
  story: readonly string[],
  breaches: readonly Breach[],
): Promise<Broken> {
  const name = breaches[0]?.invariant
  let broken: Broken = { setup: given, story, breaches }
  const attempt = async (setup: TurnSetup, shorter: readonly string[]): Promise<readonly string[] | undefined> => {
    const played = await playTurn(setup, shorter, { mustEnd: name === stuck.invariant })
    if (!played.breaches.some(({ invariant }) => invariant === name)) return undefined
    broken = { setup, story: played.story, breaches: played.breaches }
    return played.story
  }
  const dropCall = async (setup: TurnSetup): Promise<boolean> => {
    for (let at = setup.calls.length - 1; at >= 0 && setup.calls.length > 1; at--) {
      if ((await attempt({ ...setup, calls: without(setup.calls, at) }, broken.story)) !== undefined) return true
    }
    return false
  }
  // a story that cannot be reproduced is not shrunk
  if ((await attempt(given, story)) === undefined) return broken
  for (let isSmaller = true; isSmaller; ) {
    const before = broken.story.length
    const { setup } = broken
    await shrinkMoves(broken.story, (shorter) => attempt(setup, shorter))
    for (const [at, move] of broken.story.entries()) {
      const plain = plainerOf(move)
      if (plain !== undefined)
        await attempt(
          setup,
          broken.story.map((each, n) => (n === at ? plain : each)),
        )
    }
    // `atEnd` may refer to every call
    const isLess = setup.atEnd === undefined && (await dropCall(setup))
    isSmaller = isLess || broken.story.length < before
  }
  return broken
}

/** The same move without its special part. */
function plainerOf(move: string): string | undefined {
  const plain = move
    .replace(/hook before changes the input$/, 'hook before passes')
    .replace(/host changes the input$/, 'host allows')
    .replace(/ finishes (and changes the context|at length)$/, ' finishes')
  return plain === move ? undefined : plain
}

/** Later calls keep their ids, because the story refers to them. */
const without = (calls: readonly PlannedCall[], at: number): PlannedCall[] =>
  calls.flatMap((call, index) => (index === at ? [] : [index < at ? call : { ...call, id: idOf(call, index) }]))

/** Removes moves in ever smaller pieces, from the end, as long as the story still shows the breach. */
export async function shrinkMoves(
  story: readonly string[],
  attempt: (shorter: readonly string[]) => Promise<readonly string[] | undefined>,
): Promise<readonly string[]> {
  let shortest = story
  for (let size = Math.ceil(story.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
    for (let at = shortest.length - size; at >= 0; at -= size) {
      const shorter = shortest.filter((_, n) => n < at || n >= at + size)
      if (shorter.length < shortest.length) shortest = (await attempt(shorter)) ?? shortest
    }
  }
  return shortest
}
