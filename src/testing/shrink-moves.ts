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
