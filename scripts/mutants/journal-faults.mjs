const memory = 'test/durable/memory-journals.test.ts'
const rules = 'test/durable/conformance.test.ts'
const matrix = 'test/durable/crash-matrix.test.ts'
const recovery = 'test/durable/recovery.test.ts'
const failures = 'test/durable/failures.test.ts'
const answers = 'test/durable/answers.test.ts'
const agentLogs = 'test/durable/agent-logs.test.ts'
const agentQuestions = 'test/durable/agent-questions.test.ts'
const agentRecovery = 'test/durable/agent-recovery.test.ts'
const records = 'test/durable/records.test.ts'
const badInput = 'test/durable/bad-input.test.ts'
const faults = 'test/node/file-journals/faults.test.ts'
const format = 'test/node/file-journals/file-format.test.ts'
const spareSpace = 'test/node/file-journals/spare-space.test.ts'
const syncs = 'test/node/file-journals/syncs.test.ts'
const before = 'test/durable/durable-before.test.ts'
const reopened = 'test/durable/reopened-sessions.test.ts'
const writer = 'test/durable/journal-writer.test.ts'
const files = 'src/node/file-journals'

// Two faults are not in the list, because nobody could see them. A call that cannot be recorded cannot begin: the query
// hears of the failed log first and abandons its calls, so `start.journaled` finds none that waits for it. A result that
// cannot be recorded is replaced before the chart is told, so `result.recorded` would yield the same message.
/** [room, what goes wrong, this, becomes that, the test file that must fail] */
export const journalFaults = [
  ['src/durable', 'an earlier owner may write', 'if (!isOurs()) throw sessionFenced(id)', '', memory],
  [
    files,
    'a log that another process writes is written',
    'if (!this.#isOurs || isLonger) throw sessionFenced(this.#id)',
    '',
    format,
  ],
  [
    files,
    'the lock of another host counts as dead',
    "this.#processes.liveness(note) === 'dead'",
    "this.#processes.liveness(note) !== 'alive'",
    faults,
  ],
  [
    files,
    'a process goes behind an owner that came since',
    'lower[0]?.note?.token !== dead?.note?.token',
    'false',
    faults,
  ],
  [
    'src/journal',
    'two commits at once',
    'else void this.#inFlight.then(follow, follow)',
    'else atEndOfStep(begin)',
    before,
  ],
  [
    'src/journal',
    'the start of a call needs a sync of its own',
    'if (this.#inFlight === undefined) atEndOfStep(begin)',
    'if (this.#inFlight === undefined) queueMicrotask(begin)',
    syncs,
  ],
  [
    'src/journal',
    'a record after a commit does not wait longer',
    "new RecordBatch('early')",
    "new RecordBatch('due')",
    writer,
  ],
  ['src/journal', 'a journal goes on after a failed commit', 'this.fail(error)', 'void error', faults],
  [
    files,
    'records that may not be durable are read',
    'await this.#file.truncate(this.#length).catch(() => undefined)',
    '',
    faults,
  ],
  [files, 'a commit is not synced', 'const syncing = this.#file.sync()', 'const syncing = undefined', faults],
  [files, 'a note is not durable when it is accepted', 'await this.#disk.syncFolder(inbox)', '', faults],
  [
    'src/pipeline',
    'a body begins before its start is durable',
    "whenFlushed(call, goOn, laneOf(call) === 'exclusive')",
    "call.tell({ type: 'start.journaled' })",
    before,
  ],
  [
    'src/pipeline',
    'a result that is not recorded is handed over',
    "if (isDurable) return call.tell({ type: 'result.recorded' })",
    "return call.tell({ type: 'result.recorded' })",
    failures,
  ],
  [files, 'a checksum is not compared', 'crc !== undefined && line.c !== crc', 'false', format],
  [files, 'a torn tail is not cut off', 'if (size > this.#length) await this.#file.truncate(this.#length)', '', faults],
  [
    files,
    'a hole in the last commit is damage',
    'if (isIncomplete(bytes) && isLastCommit(data.subarray(end), hasMarks)) break',
    '',
    format,
  ],
  [
    files,
    'a first commit without its mark is damage',
    '|| (n === 0 && isFirstCommit(bytes, data.subarray(end)))',
    '',
    spareSpace,
  ],
  ['src/durable', 'a discarded reply leaves its context', 'fold.change({ context: before })', '', reopened],
  ['src/query', 'a discarded attempt leaves its context', 'this.context = this.#before', '', reopened],
  [
    'src/pipeline',
    'a change that waits is not recorded',
    '...(changesContext && (early ?? keptAfter(call, log))),',
    '',
    reopened,
  ],
  [files, 'a hole before the last commit is cut off', 'if (rest[end + 1] === mark) return false', '', spareSpace],
  [files, 'lines of a killed process count as durable', 'if (size > 0) await this.#file.sync()', '', spareSpace],
  [
    files,
    'the space of another owner is cut off',
    'if (hasSpare && this.#isOurs) await',
    'if (hasSpare) await',
    spareSpace,
  ],
  [files, 'a reader trusts a log that is being written', 'damage.message !== known', 'known !== undefined', spareSpace],
  ['src/journal', 'a log of a newer version is opened', '(v as number) > journalVersion', 'false', format],
  ['src/journal', 'a record of an unknown type is skipped', '!known.has(t) && optional !== true', 'false', rules],
  ['src/durable', 'the second answer counts too', '!isOpen || session.inbox.has(key)', '!isOpen', memory],
  ['src/journal', 'a note is delivered twice', 'if (this.#known.has(key)) return', '', rules],
  ['src/journal', 'a copied note is delivered again', 'this.#waiting.delete(key)', '', rules],
  [
    'src/pipeline',
    'a read-only call does not run again',
    "isReadOnly(tool, reading.input) ? 'again' : 'unknown'",
    "'unknown'",
    recovery,
  ],
  ['src/journal', 'a damaged answer is accepted', "if (note.type === 'answer') checkAnswer(note.answer)", '', badInput],
  ['src/query/session', 'a run that cannot begin begins without end', ' || !hasBegun) this', ') this', badInput],
  [
    'src/durable',
    'an edited record is folded',
    'if (!hasItsFields(record)) throw wrongFields(id, record)',
    '',
    badInput,
  ],
  ['src/pipeline', 'a rule that cannot be used is recorded', 'call.executor.checkRules(answer.addRules)', '', badInput],
  [
    'src/query/session',
    'an answer that comes while nothing runs is dropped',
    'if (!isTaken && !journal.takeAnswer(note))',
    'if (!isTaken)',
    answers,
  ],
  [
    'src/query/session',
    'an answer that comes during a suspension is not acted on',
    'this.#inbox.length > 0 || this.#journal?.hasAnswered === true',
    'this.#inbox.length > 0',
    answers,
  ],
  ['src/durable', 'an answered question stays open', 'fold.questions.delete(question)', '', answers],
  [
    'src/durable',
    'rules that came with answers are lost',
    'if (answer.addRules !== undefined) fold.change({ rules: withRules(fold.rules, answer.addRules) })',
    '',
    answers,
  ],
  [
    'src/durable',
    'a discarded reply keeps its questions',
    'fold.closeQuestions((each) => each.reply === reply)\n    for',
    'for',
    answers,
  ],
  [
    'src/durable',
    'the fallback is forgotten',
    'if (usesFallback === true) fold.usesFallback = true\n    const blocks',
    'const blocks',
    records,
  ],
  [
    'src/journal',
    'a cut reply counts although nothing had started',
    "started !== undefined) ? 'cutOff' : 'discarded'",
    "started !== undefined) ? 'cutOff' : 'cutOff'",
    recovery,
  ],
  [
    'src/journal',
    'a cut reply is discarded although a call had started',
    "started !== undefined) ? 'cutOff' : 'discarded'",
    "started !== undefined) ? 'discarded' : 'discarded'",
    recovery,
  ],
  [
    'src/pipeline',
    'a call with effects runs again',
    "isReadOnly(tool, reading.input) ? 'again' : 'unknown'",
    "'again'",
    matrix,
  ],
  [
    'src/pipeline',
    'a call whose schema has changed runs again',
    "if (reading.status === 'invalid') return undefined",
    "if (reading.status === 'invalid') return { ...reading, status: 'valid', input: given } as never",
    badInput,
  ],
  [
    'src/pipeline',
    'a throw of recover is not an unknown outcome',
    "() => call.isIn('recovering') && endUnknown(call)",
    '() => undefined',
    recovery,
  ],
  [
    'src/pipeline',
    'an unknown outcome is no failure for the calls beside it',
    'const cancels = !isAborted && cancelsSiblings(',
    'const cancels = false && cancelsSiblings(',
    before,
  ],
  ['src/pipeline', 'the start of a call is not recorded', 'if (!call.onlyReads) {', 'if (false) {', matrix],
  [
    'src/durable',
    'the agents of an earlier owner are not fenced',
    "await this.#add(session, of, 'resume', {})",
    '',
    agentRecovery,
  ],
  [
    'src/durable',
    'an agent whose call is over keeps its question',
    'if (agent.isUnfinished) agent.append(',
    'if (false) agent.append(',
    agentQuestions,
  ],
  [
    'src/durable',
    'an agent that a crash left behind is not ended',
    'if (!fold.agents.has(session)) await this.letGo(session)',
    '',
    agentRecovery,
  ],
  [
    'src/durable',
    'a retried agent has the log of the first attempt',
    'of.isRetry ? before + 1 : Math.max(before, 1)',
    'Math.max(before, 1)',
    agentLogs,
  ],
  [
    'src/durable',
    'a session goes on without the log of its agent',
    '&& !isOwnLimit) outer.#records.fail(cause)',
    '&& false) outer.#records.fail(cause)',
    agentLogs,
  ],
  [
    'src/durable',
    'an agent is opened by itself',
    'if (outer === undefined) await refuseAgent(id, store)',
    '',
    agentLogs,
  ],
]
