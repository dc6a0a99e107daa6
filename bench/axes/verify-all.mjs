import { isTimed, ruled } from '../engine-list.mjs'
import { TooLate } from './engine-client.mjs'

/** The mixes an engine is timed with: one is enough if the mix makes no difference. */
const mixesOf = (name) => (ruled.includes(name) ? ['safe', 'alternating', 'unsafe'] : ['safe'])

/** Throws unless every engine does what it declares. Returns the cells, with the time of one turn or why there is none. */
export async function verifyAll(clients, settings, tell) {
  const cells = []
  for (const [name, client] of clients) {
    await client.ask('verifyRules', {}, 60_000)
    for (const mix of isTimed(name) ? mixesOf(name) : []) cells.push(...(await verifyMix(client, mix, settings)))
    tell(`${name}: results verified`)
  }
  return cells
}

async function verifyMix(client, mix, { sizes, capMs }) {
  const cells = []
  let last = { size: 1, ms: 0 }
  for (const size of sizes) {
    const cell = { engine: client.name, mix, size }
    // assume at least linear growth
    const isHopeless = (last.ms * size) / last.size > capMs
    const ms = isHopeless ? undefined : await oneTurn(client, { size, mix }, capMs)
    if (ms !== undefined) last = { size, ms }
    cells.push(ms === undefined ? { ...cell, tooSlow: isHopeless ? last : { size, ms: capMs } } : { ...cell, ms })
  }
  return cells
}

/** Undefined if the turn times out; the engine is then restarted. */
async function oneTurn(client, cell, capMs) {
  try {
    return await client.ask('verify', cell, capMs)
  } catch (error) {
    if (!(error instanceof TooLate)) throw error
    await client.start()
    return undefined
  }
}
