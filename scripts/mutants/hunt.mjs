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
/** A query with an agent under limits: exploration plays no agents. */
const keepLimits = async () => {
  const { z } = await import('zod')
  const { allowAllTools, query } = await import(`${root}/src/index.js`).catch(crashed)
  const { scriptedModel } = await import(`${root}/src/query/scripted/index.js`).catch(crashed)
  const { subAgent } = await import(`${root}/src/query/sub-agent/index.js`).catch(crashed)
  const { Account } = await import(`${root}/src/usage/account.js`).catch(crashed)
  const { simulatedClock } = await import(`${root}/src/testing/simulated-clock.js`).catch(crashed)
  const later = () => new Promise((resolve) => setImmediate(resolve))
  const expect = (isTrue, rule) => isTrue || found('limits', rule)
  const noop = {
    name: 'Noop',
    inputSchema: z.looseObject({}),
    isReadOnly: () => true,
    call: async (input) => ({ data: input.same ? 'same' : `did ${input.n}` }),
  }
  const info = { name: 'scripted', maxOutputTokens: 10 }
  const usage = { input_tokens: 1, output_tokens: 4 }
  const calls = (name, more = {}, told = usage) =>
    Array.from({ length: 12 }, (_, n) => [
      { call: name, input: { prompt: 'go', n, ...more } },
      { stop: 'tool_use', usage: told },
    ])
  const play = async (model, limits, more = {}) => {
    const run = query({
      messages: 'go',
      tools: [noop],
      model: Object.assign(model, { info }),
      canUseTool: allowAllTools,
      limits,
      prices: { scripted: { input: 0, output: 1_000_000 } },
      ...more,
    })
    const seen = []
    const reading = (async () => {
      for await (const message of run) seen.push(message)
    })()
    await Promise.race([reading, new Promise((resolve) => setTimeout(resolve, 5_000))])
    return { run, seen, ending: run.result, requests: model.requests?.length }
  }
  const at = ({ ending }, limit, used) => ending?.reason === 'limit' && ending.limit === limit && ending.used === used
  expect(at(await play(scriptedModel(calls('Noop')), { turns: 3 }), 'turns', 3), 'turns are limited')
  const near = await play(scriptedModel(calls('Noop')), { turns: 5 })
  expect(near.seen.filter(({ subtype }) => subtype === 'limit_warning').length === 1, 'a limit warns once, at 80 %')
  expect(at(await play(scriptedModel(calls('Noop')), { outputTokens: 20 }), 'outputTokens', 12), 'output is reserved')
  expect(at(await play(scriptedModel(calls('Noop')), { costUsd: 20 }), 'costUsd', 12), 'the cost is reserved')
  const silent = await play(scriptedModel(calls('Noop', {}, { input_tokens: -1, output_tokens: -1 })), {
    outputTokens: 25,
  })
  expect(at(silent, 'outputTokens', 20), 'a reply without usage is charged its reserve')
  const called = await play(scriptedModel(calls('Noop')), { calls: 2 })
  expect(at(called, 'calls', 2) && called.requests === 3, 'calls are limited')
  const long = 'x'.repeat(3_000)
  const input = await play(scriptedModel(calls('Noop', { long }, { input_tokens: 900, output_tokens: 1 })), {
    inputTokens: 2_700,
  })
  expect(at(input, 'inputTokens', 900), 'the input is estimated')
  const inner = scriptedModel(calls('Noop'))
  const agent = (model) => subAgent({ tools: [noop], model: Object.assign(model, { info }) })
  const tree = await play(scriptedModel(calls('Agent')), { turns: 4 }, { tools: [agent(inner)] })
  expect(at(tree, 'turns', 4) && inner.requests.length === 3, 'agents draw from the same budget')
  const none = scriptedModel(calls('Noop'))
  expect(
    at(await play(scriptedModel(calls('Agent')), { agents: 0 }, { tools: [agent(none)] }), 'agents', 0),
    'agents are limited',
  )
  expect(none.requests.length === 0, 'an agent too many never asks')
  const deep = await play(scriptedModel(calls('Agent')), { depth: 0 }, { tools: [agent(scriptedModel(calls('Noop')))] })
  expect(at(deep, 'depth', 0), 'depth is limited')
  // reserves of others
  const told = []
  const nobody = { limitReached: () => told.push('limit'), limitNear: () => undefined }
  const account = new Account({ limits: { outputTokens: 10 } })
  account.join(nobody)
  const claim = (name, outputTokens) => account.reserve(nobody, { outputTokens }, () => told.push(name))
  const first = claim('first', 8)
  claim('second', 5)
  claim('third', 2)
  expect(String(told) === 'first', 'a request waits for the reserves of others, in order')
  account.release(first)
  await later()
  expect(String(told) === 'first,second,third', 'a reserve is given back')
  // time
  const clock = simulatedClock()
  const timed = new Account({ limits: { durationMs: 100 }, clock, now: () => clock.now() })
  timed.join(nobody)
  told.length = 0
  timed.begin()
  timed.begin()
  clock.increment(30)
  timed.end()
  timed.end()
  clock.increment(1_000)
  expect(timed.usage.activeMs === 30, 'only what is under way counts, once')
  timed.begin()
  for (let n = 0; n < 6; n++) clock.increment(10)
  expect(told.length === 0, 'time is not up before it is')
  for (let n = 0; n < 2; n++) clock.increment(10)
  expect(String(told) === 'limit', 'time is up')
  // the loop guard
  const same = { same: true }
  const loop = Array.from({ length: 4 }, () => [{ call: 'Noop', input: same }])
  const guarded = await play(scriptedModel([...loop, 'Done.']), undefined)
  const refused = guarded.run.transcript.filter((message) => JSON.stringify(message).includes('did not run: the same'))
  expect(refused.length === 2, 'a call that repeats itself is refused')
  const asked = []
  await play(scriptedModel([...loop, 'Done.']), undefined, {
    canUseTool: (...given) => {
      asked.push(given[5]?.because?.by)
      return { behavior: 'allow' }
    },
    context: { permissions: { allow: ['Noop'] } },
  })
  expect(String(asked) === 'loop,loop', 'a call that repeats itself is asked about')
  const others = await play(scriptedModel([...calls('Noop').slice(0, 6), 'Done.']), undefined)
  expect(
    others.ending?.reason === 'completed' && !JSON.stringify(others.run.transcript).includes('did not run'),
    'other calls run',
  )
}
const isOfLimits = /budget|usage|reserving|spending|loop-guard|permission-decision/.test(file)
if (isOfLimits) await keepLimits()
// start with the part that contains the fault
if (/lock|key-traffic|completed/.test(file)) await shareKeys()
const isInQuery = file.includes('query')
for (const hunt of isInQuery ? [exploreQueries, exploreTurns] : [exploreTurns, exploreQueries]) await hunt()
stage = 'simulation'
for (const hunt of isInQuery ? [simulateQueries, simulateTurns] : [simulateTurns, simulateQueries]) await hunt()
if (!/lock|key-traffic|completed/.test(file)) await shareKeys()
if (!isOfLimits) await keepLimits()
process.stdout.write(JSON.stringify({ by: 'nothing' }))
process.exit(0)
