import { ruled } from '../engine-list.mjs'

/** The mixes an engine is timed with: one is enough where it makes no difference. */
const mixesOf = (name) => (ruled.includes(name) ? ['safe', 'alternating', 'unsafe'] : ['safe'])

/** Throws unless every engine does what it says. Returns the cells, with what one turn took or why none was run. */
export async function verifyAll(clients, { sizes, capMs }, tell) {
  const cells = []
  for (const [name, client] of clients) {
    await client.ask('verifyRules')
    for (const mix of mixesOf(name)) cells.push(...(await verifyMix(client, mix, sizes, capMs)))
    tell(`${name}: results verified`)
  }
  return cells
}

async function verifyMix(client, mix, sizes, capMs) {
  const cells = []
  let last = { size: 1, ms: 0 }
  for (const size of sizes) {
    const cell = { engine: client.name, mix, size }
    // at least in proportion
    const isTooSlow = (last.ms * size) / last.size > capMs
    if (!isTooSlow) last = { size, ms: await client.ask('verify', { size, mix }) }
    cells.push(isTooSlow ? { ...cell, tooSlow: last } : { ...cell, ms: last.ms })
  }
  return cells
}
