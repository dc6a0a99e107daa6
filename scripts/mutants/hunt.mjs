// Searches for a fault in the build in the given folder, and prints how and at which step it was found. The file decides
// where the search begins; the last argument is the number of steps, all if it is missing.
const [, , root, file = '', steps = 'Infinity'] = process.argv
// start with the part that contains the fault
const isOfLimits = /budget|usage|reserving|spending|loop-guard|permission-decision/.test(file)
const isOfBackground = /background|detach|concluding|session-fold/.test(file)
const isOfLocks = /lock|key-traffic|completed/.test(file)
const isInQuery = file.includes('query')
const order = [isOfLimits, isOfBackground, isOfLocks, isInQuery].join()
let step = 0
const found = (by, what) => {
  process.stdout.write(JSON.stringify({ by, what: String(what).split('\n')[0], step, order }))
  process.exit(0)
}
const foundNothing = () => {
  process.stdout.write(JSON.stringify({ by: 'nothing' }))
  process.exit(0)
}
/** Before each part of the search. */
const nextStep = () => {
  if (++step > Number(steps)) foundNothing()
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
    nextStep()
    const { breach } = await exploreTurn({ tools, ...turn, maxMs: 20_000, maxStates: 1_000 })
    if (breach !== undefined) found('exploration', breach.breaches[0].invariant)
  }
}
const exploreQueries = async () => {
  for (const query of queries) {
    nextStep()
    const { breach } = await exploreQuery({ tools, ...query, maxMs: 20_000, maxStates: 400 })
    if (breach !== undefined) found('exploration', breach.breaches[0].invariant)
  }
}
const simulateTurns = async () => {
  // some faults need a rare coincidence, such as a report from a body that was just abandoned
  for (let seed = 1; seed <= 20; seed++) {
    nextStep()
    const { breach } = await simulate({ seed, runs: 400 })
    if (breach !== undefined) found('simulation', breach.breaches[0].invariant)
  }
}
const simulateQueries = async () => {
  for (const seed of [1, 2]) {
    nextStep()
    const { breach } = await simulateQuery({ seed, runs: 150 })
    if (breach !== undefined) found('simulation', breach.breaches[0].invariant)
  }
}
/** Two executors with the same locks: exploration plays one executor only. */
const shareKeys = async () => {
  nextStep()
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
/** Calls that outlive their turn: read, stopped, crossed by an end, and recovered from a log. */
const sendToBackground = async () => {
  nextStep()
  const { allowAllTools, backgroundOf, createSession, query } = await import(`${root}/src/index.js`).catch(crashed)
  const { memoryJournals, openSession } = await import(`${root}/src/durable/index.js`).catch(crashed)
  const { heldModel } = await import(`${root}/src/testing/held-model.js`)
  const { simulatedClock } = await import(`${root}/src/testing/simulated-clock.js`)
  const later = async (rounds = 6) => {
    for (let round = 0; round < rounds; round++) await new Promise((resolve) => setImmediate(resolve))
  }
  const expect = (isTrue, rule) => isTrue || found('background calls', rule)
  /** Reads the outcome of `bg_1` into its own result. */
  const reader = {
    ...heldTool('Peek', { safe: true }).tool,
    call: async (_input, context) => ({
      data: JSON.stringify(backgroundOf(context)?.readIn('bg_1', context)?.outcome?.[0]?.message.content[0].content),
    }),
  }
  const world = (given = {}) => {
    const [held, clock] = [heldModel(), simulatedClock()]
    const slow = heldTool('Slow', { resources: ({ keys = [] }) => ({ writes: keys }), ...given })
    const options = { tools: [slow.tool, reader], model: held.model, canUseTool: allowAllTools }
    const executor = { clock, abortGraceMs: 50 }
    const reply = async (...calls) => {
      await later()
      held.start()
      for (const [id, name, input] of calls) held.call(id, name, input)
      if (calls.length === 0) held.text('ok')
      held.end(calls.length === 0 ? undefined : 'tool_use')
      await later()
    }
    const signal = (id) => slow.run(id).context.abortController.signal
    return { held, clock, slow, reply, signal, options: { ...options, executor } }
  }
  const begin = (given, more) => {
    const made = world(given)
    const run = query({ messages: 'go', ...made.options, ...more })
    const read = (async () => {
      for await (const _ of run);
    })()
    void read
    return {
      ...made,
      run,
      told: () => JSON.stringify(run.transcript.map(({ message }) => message)).split('THE END').length - 1,
    }
  }
  const the = { data: 'THE END' }

  const waits = begin()
  await waits.reply(['a', 'Slow', { keys: ['f:x'] }], ['b', 'Slow', { keys: ['f:x'] }])
  expect(waits.run.detach('a'), 'a running call can go to the background')
  await later()
  expect(!waits.slow.started.includes('b'), 'a background call keeps the keys that it named')
  waits.slow.run('a').finish(the)
  await later()
  expect(waits.slow.started.includes('b'), 'keys are given back when a background call is over')
  waits.run.detach('b')
  await waits.reply()
  await waits.reply()
  expect(waits.run.result === undefined, 'a query waits for its background calls')
  expect(waits.told() === 1, 'an outcome is delivered once')
  waits.slow.run('b').fail(new Error('broke'))
  await waits.reply()
  await waits.reply()
  expect(waits.run.result?.reason === 'completed', 'a query ends when its background calls are over')

  const reads = begin()
  await reads.reply(['a', 'Slow'])
  reads.run.detach('a')
  await later()
  reads.slow.run('a').finish(the)
  await reads.reply(['r', 'Peek'])
  await reads.reply()
  await later()
  expect(reads.told() === 1, 'an outcome that a call has read is not delivered again')
  expect(reads.run.result?.reason === 'completed', 'a query ends when its outcomes are read')

  const ends = begin({ background: { awaited: false } })
  await ends.reply(['a', 'Slow'], ['b', 'Slow'])
  ends.run.detach('a', { onEnd: 'leave', awaited: false })
  ends.run.detach('b')
  await ends.reply()
  expect(!ends.signal('a').aborted, 'a call that is left runs on')
  expect(ends.signal('b').aborted, 'a call that nobody awaits stops when its query ends')
  ends.clock.increment(50)
  await later()
  expect(ends.run.result?.reason === 'completed', 'a body that ignores its signal does not hang the end')

  const stops = begin({ retry: { attempts: 2, backoffMs: 10 } })
  await stops.reply(['a', 'Slow'], ['b', 'Slow'])
  stops.run.detach('a')
  stops.run.detach('b')
  await later()
  stops.run.background.stop('bg_1')
  stops.slow.run('b').fail(new Error('once'))
  await later()
  expect(stops.signal('a').aborted && !stops.signal('b').aborted, 'a stop reaches one call')
  stops.clock.increment(10)
  await later()
  expect(stops.slow.started.length === 3, 'retries go on in the background')
  stops.clock.increment(40)
  await later()
  expect(stops.run.background.list()[0]?.status === 'stopped', 'a stop has its grace period')
  stops.run.abort('escape')
  await later()
  expect(stops.signal('b').aborted, 'an abort of a query stops its background calls')

  const limited = begin({}, { maxBackground: 1 })
  await limited.reply(['a', 'Slow'], ['b', 'Slow'])
  expect(limited.run.detach('a'), 'a running call can go to the background')
  await later()
  expect(!limited.run.detach('b'), 'the number of background calls is limited')
  limited.run.interrupt('hurry')
  await later()
  expect(!limited.signal('a').aborted, 'an interrupt does not stop a background call')

  const quick = {
    ...heldTool('Quick', { safe: true }).tool,
    call: (_input, context) => {
      context.detach()
      return the
    },
  }
  const late = begin({}, { tools: [quick] })
  late.run.on('tool_use_background', ({ backgroundID }) => void late.run.background.stop(backgroundID))
  await late.reply(['a', 'Quick'])
  expect(late.told() === 1, 'a call that is stopped when it is over keeps its outcome')

  const order = begin({ safe: true })
  await order.reply(['a', 'Slow'], ['b', 'Slow'])
  for (const id of ['a', 'b']) order.run.detach(id)
  await later()
  for (const id of ['b', 'a']) order.slow.run(id).finish(the)
  await order.reply()
  const heads = JSON.stringify(order.run.transcript).match(/Background call bg_\d/g)
  expect(String(heads?.map((head) => head.slice(-1))) === '2,1', 'outcomes come in the order of completion')

  const again = begin({ isReadOnly: () => true, startWhen: 'closed' }, { retry: { attempts: 1, backoffMs: 10 } })
  await later()
  again.held.start()
  again.held.call('a', 'Slow')
  await later()
  again.run.detach('a')
  await later()
  again.held.fail(Object.assign(new Error('overloaded'), { status: 529 }))
  await later()
  expect(again.signal('a').aborted, 'calls of a discarded reply stop')
  again.slow.run('a').finish(the)
  await later()
  again.clock.increment(10)
  await again.reply()
  await again.reply()
  expect(again.told() === 0, 'nobody gets the outcome of a discarded reply')

  const made = world()
  const session = createSession(made.options)
  session.send('go')
  await made.reply(['a', 'Slow'])
  session.detach('a')
  await made.reply()
  session.interrupt()
  await later()
  expect(!made.signal('a').aborted && session.status === 'idle', 'an interrupt does not stop a background call')
  session.abort('escape')
  await later()
  expect(made.signal('a').aborted, 'an abort of a session stops its background calls')
  made.slow.run('a').finish(the)
  await later()
  session.send('and?')
  await later()
  const asked = JSON.stringify(made.held.requests.at(-1)?.messages)
  expect(asked.includes('It was stopped'), 'outcomes precede the next prompt')

  const paused = world()
  const parked = await openSession({ ...paused.options, id: 'p', journals: memoryJournals() })
  parked.send('go')
  await paused.reply(['a', 'Slow'])
  parked.detach('a')
  await later()
  paused.held.start()
  await later()
  void parked.suspend({ graceMs: 20 })
  paused.held.text('ok')
  paused.held.end()
  await later(20)
  paused.clock.increment(20)
  await later(20)
  expect(paused.signal('a').aborted, 'a suspension ends the wait for a background call')

  const journals = memoryJournals()
  const first = world()
  const one = await openSession({ ...first.options, id: 's', journals, owner: 'one' })
  one.send('go')
  await first.reply(['a', 'Slow'], ['b', 'Slow'])
  one.detach('a')
  one.detach('b')
  await first.reply()
  first.slow.run('b').finish(the)
  await later(20)
  const types = []
  for await (const { t } of journals.read('s')) types.push(t)
  expect(types.includes('background.finished'), 'an outcome is recorded')
  const second = world({ recover: () => ({ data: 'FOUND' }) })
  const two = await openSession({ ...second.options, id: 's', journals, owner: 'two' })
  two.resume()
  await later(20)
  await second.reply()
  await later(20)
  if (second.held.requests.length > 1) await second.reply()
  await later(20)
  const text = JSON.stringify(two.transcript)
  expect(text.split('"text":"[Background call bg_2').length === 2, 'an outcome of the log is delivered once')
  expect(text.split('FOUND').length >= 2 && second.slow.started.length === 0, 'a call of the log is recovered')
  const third = world()
  const three = await openSession({ ...third.options, id: 's', journals, owner: 'three' })
  three.send('and?')
  await later(20)
  await third.reply()
  await later(20)
  const last = JSON.stringify(three.transcript)
  expect(last.split('"text":"[Background call bg_2').length === 2, 'an outcome is not delivered again after a restart')
}
/** A query with an agent under limits: exploration plays no agents. */
const keepLimits = async () => {
  nextStep()
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
if (isOfLimits) await keepLimits()
if (isOfBackground) await sendToBackground()
if (isOfLocks) await shareKeys()
for (const hunt of isInQuery ? [exploreQueries, exploreTurns] : [exploreTurns, exploreQueries]) await hunt()
stage = 'simulation'
for (const hunt of isInQuery ? [simulateQueries, simulateTurns] : [simulateTurns, simulateQueries]) await hunt()
if (!isOfLocks) await shareKeys()
if (!isOfBackground) await sendToBackground()
if (!isOfLimits) await keepLimits()
foundNothing()
