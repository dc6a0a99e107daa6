import type { Breach } from './invariant.ts'
import { playTurn } from './play-turn.ts'
import { stuck } from './playable-world.ts'
import type { TurnSetup } from './turn-setup.ts'

export interface Broken {
  readonly setup: TurnSetup
  readonly story: readonly string[]
  readonly breaches: readonly Breach[]
}

/**
 * The smallest story that breaks the same invariant: moves are left out in ever smaller pieces, then calls from the end,
 * until nothing more can go.
 */
export async function shrinkStory(
  given: TurnSetup,
  story: readonly string[],
  breaches: readonly Breach[],
): Promise<Broken> {
  const name = breaches[0]?.invariant
  let broken: Broken = { setup: given, story, breaches }
  const attempt = async (setup: TurnSetup, shorter: readonly string[]): Promise<boolean> => {
    const played = await playTurn(setup, shorter, { mustEnd: name === stuck.invariant })
    const isSame = played.breaches.some(({ invariant }) => invariant === name)
    if (isSame) broken = { setup, story: played.story, breaches: played.breaches }
    return isSame
  }
  // what cannot be told again as it was stays as it is
  if (!(await attempt(given, story))) return broken
  for (let isSmaller = true; isSmaller; ) {
    isSmaller = false
    for (let size = Math.ceil(broken.story.length / 2); size >= 1; size = size === 1 ? 0 : Math.ceil(size / 2)) {
      for (let at = broken.story.length - size; at >= 0; at -= size) {
        const shorter = broken.story.filter((_, n) => n < at || n >= at + size)
        if (shorter.length < broken.story.length && (await attempt(broken.setup, shorter))) isSmaller = true
      }
    }
    const { setup } = broken
    // what is wanted at the end may speak of every call
    const fewer = setup.atEnd === undefined ? setup.calls.slice(0, -1) : []
    if (fewer.length > 0 && (await attempt({ ...setup, calls: fewer }, broken.story))) isSmaller = true
  }
  return broken
}
