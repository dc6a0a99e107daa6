import { summaryOf } from '../statistics.mjs'

/** Times every cell: each engine once per cell and round, one directly after the other. */
export async function measureOverhead(clients, verified, settings, tell) {
  const cells = verified.map((cell) => ({ ...cell, rounds: [] }))
  // round 0 warms up and is not counted
  for (let round = 0; round <= settings.rounds; round++) {
    for (const cell of inTurns(cells, round)) {
      if (!isDue(cell, round, settings)) continue
      const { size, mix } = cell
      const microseconds = await clients
        .get(cell.engine)
        .ask('time', { size, mix, minMs: settings.minMs, isCpu: settings.cpu })
      if (round > 0) cell.rounds.push(microseconds)
    }
    tell(round === 0 ? 'warm' : `round ${round} of ${settings.rounds}`)
  }
  return cells.map((cell) => summarized(cell, settings))
}

/** Mix by mix and size by size; the first engine rotates with the rounds. */
function inTurns(cells, round) {
  return groups(cells).flatMap((group) => [
    ...group.slice(round % group.length),
    ...group.slice(0, round % group.length),
  ])
}

const keyOf = ({ mix, size }) => `${mix} ${size}`

function groups(cells) {
  const found = new Map()
  for (const cell of cells) found.set(keyOf(cell), [...(found.get(keyOf(cell)) ?? []), cell])
  return [...found.values()]
}

function isDue({ ms, size }, round, { onceMs, largeSize, largeRounds }) {
  if (ms === undefined || ms > onceMs) return false
  return size < largeSize || (round > 0 && round <= largeRounds)
}

function summarized({ rounds, ms, ...cell }, { onceMs }) {
  if (ms === undefined) return cell
  if (ms > onceMs) return { ...cell, isOnce: true, ...summaryOf([(ms * 1_000) / cell.size]) }
  return { ...cell, ...summaryOf(rounds) }
}
