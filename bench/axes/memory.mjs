import { weighed } from '../engine-list.mjs'

/** Heap per call at some sizes, and what is retained. Skips sizes whose turns take too long. */
export async function measureMemory(clients, verified, { memory, retained }, tell) {
  const rows = []
  for (const engine of weighed.filter((name) => clients.has(name))) {
    const client = clients.get(engine)
    const sizes = {}
    for (const size of memory.sizes) {
      const cell = verified.find((each) => each.engine === engine && each.mix === 'safe' && each.size === size)
      if (!(cell?.ms <= memory.maxTurnMs)) continue
      sizes[size] = await client.ask('memory', { size, turns: memory.turns })
    }
    rows.push({ engine, sizes, retained: await client.ask('retained', retained) })
    tell(`${engine}: memory measured`)
  }
  return rows
}
