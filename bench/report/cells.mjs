import { median } from '../statistics.mjs'

export const cellOf = ({ cells }, engine, mix, size) =>
  cells.find((cell) => cell.engine === engine && cell.mix === mix && cell.size === size)

/** Computed per round, because temporary load slows both engines down. */
function ratio(above, below) {
  if (above?.rounds === undefined || below?.rounds === undefined) return undefined
  if (above.isOnce || below.isOnce) return above.median / below.median
  const rounds = Math.min(above.rounds.length, below.rounds.length)
  return median(Array.from({ length: rounds }, (_, round) => above.rounds[round] / below.rounds[round]))
}

export const ratioOf = (measured, engine, base, mix, size) =>
  ratio(cellOf(measured, engine, mix, size), cellOf(measured, base, mix, size))

/** The cost per call in a large turn divided by that in a small one: 1 if the cost is linear. */
export const growthOf = (measured, engine, mix, large = 10_000, small = 100) =>
  ratio(cellOf(measured, engine, mix, large), cellOf(measured, engine, mix, small))
