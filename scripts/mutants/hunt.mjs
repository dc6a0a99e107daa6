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
/** Two executors with the same locks: exploration plays one executor only. */
const shareKeys = async () => {
  const { allowAllTools, createLocks, StreamingToolExecutor } = await import(`${root}/src/index.js`).catch(crashed)
  const later = () => new Promise((resolve) => setImmediate(resolve))
  const locks = createLocks()
  const edit = heldTool('Edit', { resources: ({ writes }) => ({ writes }) })
  /** Runs a call inside of its own. */
  const nest = (name, isAgent) => ({
    ...edit.tool,
    name,
    isAgent,
    async call({ inner }, { locks, toolUseID }) {
      await later()
      const executor = newTurn(locks)
      add(executor, 'Edit', `${toolUseID}.inner`, { writes: [inner] })
      const messages = []
      for await (const { message } of executor.getRemainingResults()) messages.push(message)
      return { data: messages[0].message.content[0].content }
    },
  })
  const newTurn = (locks) =>
    new StreamingToolExecutor([edit.tool, nest('Nest', false), nest('Agent', true)], allowAllTools, { locks })
  const add = (executor, name, id, input) => executor.addTool({ type: 'tool_use', id, name, input }, undefined)
  const expect = (isTrue, rule) => isTrue || found('shared keys', rule)
  const finish = async (id) => {
    if (edit.started.includes(id)) edit.run(id).finish()
    await later()
    await later()
  }
  const [one, other] = [newTurn(locks), newTurn(locks)]
  add(one, 'Edit', 'a', { writes: ['f:x'] })
  add(other, 'Edit', 'b', { writes: ['f:x', 'f:y'] })
  add(newTurn(locks), 'Edit', 'c', { writes: ['f:y'] })
  expect(String(edit.started) === 'a', 'calls take turns in order of arrival')
  for (const id of ['a', 'b', 'c']) await finish(id)
  expect(String(edit.started) === 'a,b,c', 'every call gets its keys')
  expect(locks.holders().length === 0, 'keys are given back')
  add(one, 'Nest', 'n', { writes: ['f:x'], inner: 'f:x' })
  await finish('')
  expect(edit.started.includes('n.inner'), 'a call does not wait for the call around it')
  await finish('n.inner')
  add(one, 'Nest', 'p', { writes: ['f:x'], inner: 'f:y' })
  add(other, 'Nest', 'q', { writes: ['f:y'], inner: 'f:x' })
  await finish('')
  await finish('')
  expect(edit.started.includes('p.inner'), 'no two calls wait for each other')
  await finish('p.inner')
  add(one, 'Agent', 'g', { writes: ['f:z'], inner: 'f:x' })
  await finish('')
  expect(String(locks.holders().map(({ toolUseID }) => toolUseID)) === 'g.inner', 'an agent takes no keys')
}
// start with the part that contains the fault
if (/lock|key-traffic|completed/.test(file)) await shareKeys()
const isInQuery = file.includes('query')
for (const hunt of isInQuery ? [exploreQueries, exploreTurns] : [exploreTurns, exploreQueries]) await hunt()
stage = 'simulation'
for (const hunt of isInQuery ? [simulateQueries, simulateTurns] : [simulateTurns, simulateQueries]) await hunt()
if (!/lock|key-traffic|completed/.test(file)) await shareKeys()
process.stdout.write(JSON.stringify({ by: 'nothing' }))
process.exit(0)
