/** Asks each engine once per round. */
export async function inRounds(clients, names, rounds, ask) {
  const rows = names.filter((name) => clients.has(name)).map((engine) => ({ engine, answers: [] }))
  for (let round = 0; round < rounds; round++) {
    for (const { engine, answers } of rows) answers.push(await ask(clients.get(engine)))
  }
  return rows.filter(({ answers }) => answers.length > 0)
}
