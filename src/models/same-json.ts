/** Ends arguments that came in pieces of which some are missing, so that nothing can be made of them. */
export const lostPieces = ' [Pieces of these arguments were lost.]'

/** The same arguments, perhaps with other white space. */
export function isSameJson(one: string, other: string): boolean {
  if (one === other) return true
  try {
    return JSON.stringify(JSON.parse(one)) === JSON.stringify(JSON.parse(other))
  } catch {
    return false
  }
}
