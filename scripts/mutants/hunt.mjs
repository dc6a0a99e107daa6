// Searches for a fault in the build in the given folder, and prints how it was found.
const [, , root, file = ''] = process.argv
const found = (by, what) => {
  process.stdout.write(JSON.stringify({ by, what: String(what).split('\n')[0] }))
  process.exit(0)
}
let stage = 'exploration'
const crashed = (error) => {
  // a change that does not parse is not a realistic fault
  if (error instanceof SyntaxError) process.exit(2)
  found(stage, `throws: ${error}`)
}
process.on('uncaughtException', crashed)
process.on('unhandledRejection', crashed)
console.warn = console.error = () => undefined

const { exploreQuery, exploreTurn, heldTool, simulate, simulateQuery } = await import(
  `${root}/src/testing/index.js`
).catch(crashed)
const tools = [
  // read-only, so that an attempt that has started it is discarded
  heldTool('Read', { safe: true, isReadOnly: () => true }).tool,
  heldTool('Search', { safe: true, cancel: true }).tool,
  heldTool('Edit').tool,
  heldTool('Bash', { safe: true, cancelsSiblingsOnError: true }).tool,
]
const calm = {
  interrupt: false,
  abort: false,
  discard: false,
  progress: false,
  reader: false,
  reading: false,
  time: false,
}
const turns = [
  { calls: [{ tool: 'Read' }, { tool: 'Edit' }, { tool: 'Edit' }], happenings: { ...calm, modifier: true } },
  { calls: [{ tool: 'Read' }], happenings: { reader: 2, discard: false, hostAbort: true } },
  { calls: [{ tool: 'Search' }], phases: 'all' },
  { calls: [{ tool: 'Bash' }, { tool: 'Edit' }], happenings: { reader: false } },
  { calls: [{ tool: 'Search' }, { tool: 'Bash' }], happenings: { progress: false, reader: false, reading: false } },
  {
    calls: [{ tool: 'Search' }, { tool: 'Read' }, { tool: 'Read' }],
    arrival: 'together',
    options: { maxConcurrency: 2 },
    happenings: { progress: false },
  },
  {
    calls: [{ tool: 'Edit', hold: true }, { tool: 'Read', hold: true }, { tool: 'Read' }],
    happenings: { progress: false, reader: false },
  },
]
const nothing = { failure: false, modelTrouble: false, modelError: false, interrupt: false, steer: false, abort: false }
const queries = [
  { replies: [['So.', { call: 'Read' }, { call: 'Edit' }]], happenings: { ...nothing, abort: true, interrupt: true } },
  { replies: [[{ call: 'Edit' }]], happenings: { ...nothing, modelTrouble: true, readerLeaves: false } },
  {
    replies: [[{ call: 'Read' }, { call: 'Edit' }]],
    happenings: { ...nothing, modelTrouble: true, readerLeaves: false, time: true },
  },
  { replies: [[{ call: 'Search' }, { call: 'Read' }]], happenings: { ...nothing, steer: true, readerLeaves: false } },
  { replies: [[{ call: 'Search' }]], happenings: { ...nothing, modelError: true, readerLeaves: false } },
]
const exploreTurns = async () => {
  for (const turn of turns) {
    const { breach } = await exploreTurn({ tools, ...turn, maxMs: 20_000, maxStates: 1_000 })
    if (breach !== undefined) found('exploration', breach.breaches[0].invariant)
  }
}
const exploreQueries = async () => {
  for (const query of queries) {
    const { breach } = await exploreQuery({ tools, ...query, maxMs: 20_000, maxStates: 400 })
    if (breach !== undefined) found('exploration', breach.breaches[0].invariant)
  }
}
const simulateTurns = async () => {
  // some faults need a rare coincidence, such as a report from a body that was just abandoned
  for (let seed = 1; seed <= 20; seed++) {
    const { breach } = await simulate({ seed, runs: 400 })
    if (breach !== undefined) found('simulation', breach.breaches[0].invariant)
  }
}
const simulateQueries = async () => {
  for (const seed of [1, 2]) {
    const { breach } = await simulateQuery({ seed, runs: 150 })
    if (breach !== undefined) found('simulation', breach.breaches[0].invariant)
  }
}
// start with the part that contains the fault
const isInQuery = file.includes('query')
for (const hunt of isInQuery ? [exploreQueries, exploreTurns] : [exploreTurns, exploreQueries]) await hunt()
stage = 'simulation'
for (const hunt of isInQuery ? [simulateQueries, simulateTurns] : [simulateTurns, simulateQueries]) await hunt()
process.stdout.write(JSON.stringify({ by: 'nothing' }))
process.exit(0)
