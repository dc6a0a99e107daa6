const resources = 'test/executor/resources.test.ts'
const locks = 'test/executor/locks.test.ts'
const book = 'test/charts/lock-book.test.ts'
const waits = 'test/inspect/lock-waits.test.ts'
const walk = 'test/charts/walk-background-chart.test.ts'
const background = 'test/query/background.test.ts'
const session = 'test/query/session/background.test.ts'
const delivery = 'test/background/delivery.test.ts'
const remote = 'test/remote/remote.test.ts'
const limits = 'test/query/limits.test.ts'
const crashed = 'test/durable/limits.test.ts'
const executor = 'machines/executor'
const chart = 'machines/background'

/** [room, what goes wrong, this, becomes that, the test file that must fail] */
export const schedulingFaults = [
  // keys in one executor
  [
    executor,
    'a call whose changed keys are in use goes on',
    'return this.queue.isInTheWay(call, change)',
    'return false',
    resources,
  ],
  [
    executor,
    'a call whose changed keys are free queues again',
    'return this.queue.isInTheWay(call, change)',
    'return true',
    resources,
  ],
  [
    executor,
    'a call that comes to write everything goes on beside others',
    'if (!this.hasKeys || laneOf(call) !== laneOf(change)) return true',
    'if (!this.hasKeys) return true',
    resources,
  ],
  [executor, 'a call keeps its old keys', 'this.queue.rekeyed(call)', '', resources],
  [
    executor,
    'calls that waited for the old keys of another go on waiting',
    'this.#execute(this.#claim(call))\n    this.#fileAgain(call)',
    'this.#execute(this.#claim(call))',
    resources,
  ],
  [
    executor,
    'changed keys overtake an earlier call that waits',
    '|| waiting[other].lastBefore(index) !== undefined',
    '',
    resources,
  ],
  [executor, 'a call is in its own way', 'own !== undefined && users.has(own)', 'false', resources],
  [
    'src/pipeline',
    'a call whose keys cannot be read runs beside others',
    'return { keys: everything, problem: describeError(error) }',
    'return { keys: { reads: [], writes: [] }, problem: describeError(error) }',
    resources,
  ],
  [
    'src/pipeline',
    'keys are not read again when the context has changed',
    '|| (keys !== undefined && executor.peekContext(this.record) !== keysContext)',
    '',
    resources,
  ],
  ['machines/call', 'a folder does not cover what is below it', 'above.push(key.slice(0, at + 1))', '', resources],
  [
    executor,
    'a call without keys runs beside one that writes everything',
    "note('*', 'readsBelow')\n  for",
    'for',
    locks,
  ],
  [
    executor,
    'a held call keeps what it may read',
    "if (!isHeld || use === 'writes' || use === 'writesBelow') traffic",
    'traffic',
    resources,
  ],
  [executor, 'a call that waits for a person takes a place', 'this.#paused.add(call)', 'void call', resources],
  // keys that executors share
  [executor, 'a claim waits behind its own call', 'isWaiting(other) && around.length > 0 &&', 'false &&', book],
  [
    executor,
    'a claim that gives up keys keeps them for itself',
    'this.#leave(claim, before)',
    'void before',
    background,
  ],
  [
    'src/background',
    'a background call keeps everything that it took with other keys',
    'this.executor.push(() => this.executor.locks?.book.narrow(lock, keys))',
    'void keys',
    background,
  ],
  [
    'src/background',
    'a background call keeps everything',
    "const isNamed = (key: string): boolean => key !== '*'",
    'const isNamed = (): boolean => true',
    background,
  ],
  [
    'src/pipeline',
    'who holds a key is not named',
    '...(session !== undefined && { session }),\n      ...(outer',
    '...(outer',
    waits,
  ],
  [
    'src/inspect/recorder',
    'a call that has its keys still waits in the page',
    "found.push({ type: 'locks', call, key: null, holders: [] })",
    '',
    waits,
  ],
  [executor, 'nobody is told that keys changed hands', 'for (const watcher of this.#watchers) watcher()', '', waits],
  [
    'src/inspect/recorder',
    'a recorder that comes late does not know who holds a key',
    '...this.#locks.picture(),',
    '',
    waits,
  ],
  ['src/query/session', 'a session does not name its calls', 'locks: locks.inSession(id)', 'locks', waits],
  // the chart of a background call: its actions
  [
    chart,
    'a recovered body does not run',
    "'call.recovered': { target: 'calling', actions: 'callTool' }",
    "'call.recovered': 'calling'",
    walk,
  ],
  [
    chart,
    'a retried body does not run',
    "'retry.due': { target: 'calling', actions: 'callTool' }",
    "'retry.due': 'calling'",
    walk,
  ],
  [
    chart,
    'a body that is stopped between two runs gets no signal',
    "[...holdStop, 'stop', endBetween]",
    '[...holdStop, endBetween]',
    walk,
  ],
  [
    chart,
    'a body that is stopped while it is recovered gets no signal',
    "[...holdStop, 'stop', withUnknown.actions]",
    '[...holdStop, withUnknown.actions]',
    walk,
  ],
  [chart, 'work on an outcome goes on after a stop', "[holdDrop, 'hurry']", '[holdDrop]', walk],
  [chart, 'a drop that comes with a late stop is forgotten', "[holdDrop, 'hurry']", "['hurry']", walk],
  [
    chart,
    'a body that ignores its stop is not reported',
    "target: 'finished', actions: ['abandon', endStopped]",
    "target: 'finished', actions: [endStopped]",
    walk,
  ],
  [chart, 'nobody hears of an outcome', "entry: 'announce',", '', walk],
  [chart, 'an outcome has no messages', "entry: 'conclude',\n        initial", 'initial', walk],
  [
    chart,
    'a call that nobody waits for is kept for ever',
    "dropped: { type: 'final', entry: 'letGo' }",
    "dropped: { type: 'final' }",
    walk,
  ],
  [chart, 'a weaker reason replaces a stronger one', 'strongerCause(context.cause, cause)', 'cause', walk],
  // the calls in the background
  [
    'src/background',
    'a call of the log is not recovered',
    'return this.body === undefined\n',
    'return false\n',
    session,
  ],
  [
    'src/background',
    'a call that is over can be stopped',
    'if (call === undefined || !call.isUnderWay) return false',
    'if (call === undefined) return false',
    background,
  ],
  [
    'src/background',
    'what a discarded reply has read counts as read',
    'this.#readings.forgetReaders((reader) => reader.executor === executor)',
    '',
    delivery,
  ],
  [
    'src/background',
    'an outcome that a failed call has read is lost',
    'if (!hasTold(call)) this.#forgetReadings(call)',
    '',
    delivery,
  ],
  [
    'src/remote',
    'a call of an earlier process is sent again',
    'attach: link?.isRecovered ?? false',
    'attach: false',
    remote,
  ],
  [
    'src/remote',
    'a call of an earlier process is given up',
    "linkOf(context) !== undefined || isReadOnly(this.#tool, input) ? 'again' : 'unknown'",
    "'unknown'",
    remote,
  ],
  [
    'src/background',
    'a background call of an earlier process is sent again',
    'return this.origin === undefined',
    'return false',
    remote,
  ],
  // limits
  ['machines/query', 'a request that leaves keeps its place', "exit: 'leaveReserve',", '', limits],
  [
    'machines/query',
    'time is up and the model goes on',
    "[holdLimit, 'stopModel', 'stopForLimit', cutOff, 'drain']",
    "[holdLimit, 'stopForLimit', cutOff, 'drain']",
    limits,
  ],
  [
    'machines/query',
    'time is up and bodies go on',
    "target: 'limiting', actions: [holdLimit, 'stopForLimit'] }",
    "target: 'limiting', actions: [holdLimit] }",
    limits,
  ],
  [
    'machines/query',
    'a limit while the model is asked again loses results',
    "'limit.reached': { target: 'limiting', actions: [holdLimit, 'drain'] }",
    "'limit.reached': { target: 'limiting', actions: [holdLimit] }",
    limits,
  ],
  [
    'src/durable',
    'a request that a crash cut off is charged again and again',
    'if (spent.closes !== undefined) fold.requests.delete(spent.closes)',
    '',
    crashed,
  ],
  [
    'src/durable',
    'a reply that a crash cut off is no turn',
    "return turn !== undefined && judgeReply(turn) === 'cutOff'",
    'return false',
    crashed,
  ],
  [
    'src/query/session',
    'a request that a crash cut off is free',
    'account.chargeCut(journal.cutRequests)',
    '',
    crashed,
  ],
]
