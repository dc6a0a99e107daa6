// Puts one deliberate fault at a time into a copy of the project, and runs the tests that must find it.
//   node scripts/mutants/packages.mjs [--only 'owner|sealed']
import { execFile, execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const bullmq = 'packages/bullmq/src'
const journals = 'packages/bullmq/test/redis-journals.test.ts'
const sessions = 'packages/bullmq/test/serve-sessions.test.ts'
const faults = 'packages/bullmq/test/faults.test.ts'

/** [file, what goes wrong, this, becomes that, the test file, the titles of its tests that must fail] */
const mutants = [
  [
    `${bullmq}/journals/scripts.ts`,
    'an earlier owner may write',
    "if redis.call('HGET', KEYS[1], 'token') ~= ARGV[1] then return 'fenced' end",
    '',
    journals,
    'of many owners that open at once',
  ],
  [
    `${bullmq}/journals/scripts.ts`,
    'a commit that is sent again is not recognized',
    "if records == expected + (#ARGV - first + 1) / 2 then return 'done' end",
    '',
    journals,
    'lost on the way',
  ],
  [
    `${bullmq}/journals/scripts.ts`,
    'lost records are not noticed',
    'if records ~= expected then return tostring(records) end',
    'expected = records',
    journals,
    'failover',
  ],
  [
    `${bullmq}/journals/scripts.ts`,
    'the second answer counts too',
    "if first then return first == ARGV[2] and 'accepted' or 'stale' end",
    '',
    journals,
    'first answer',
  ],
  [
    `${bullmq}/journals/scripts.ts`,
    'a closed question takes answers',
    'not string.find(kept[2], ARGV[4], 1, true)',
    'false',
    journals,
    'not open is stale',
  ],
  [
    `${bullmq}/journals/scripts.ts`,
    'agents stay when their session is removed',
    'removeTree(ARGV[1] .. inner)',
    'local _ = inner',
    journals,
    'removed with it',
  ],
  [
    `${bullmq}/sessions/session-queue.ts`,
    'a message behind the end of a run is missed',
    'keepLastIfActive: true',
    'keepLastIfActive: false',
    sessions,
    'behind the end',
  ],
  [
    `${bullmq}/bull-runner.ts`,
    'a job of a lost worker counts as not run',
    "if waited and starts and starts ~= '0' then return 'lost' end",
    '',
    faults,
    'waits again',
  ],
  [
    `${bullmq}/bull-runner.ts`,
    'a call that was stopped can still be added',
    "redis.call('HSET', KEYS[3], 'stopped', ARGV[2])",
    '',
    faults,
    'while it is being sent',
  ],
  [
    `${bullmq}/tool-jobs.ts`,
    'a stop that arrives before its job is forgotten',
    ' || this.#stopped.delete(id)',
    '',
    faults,
    'arrives before its job',
  ],
  [
    `${bullmq}/open-call.ts`,
    'a lost worker is not told',
    "this.#call.onPlace({ place: 'lost', worker: this.#worker })",
    '',
    'packages/bullmq/test/bull-runner.test.ts',
    'the last worker is lost',
  ],
  [
    `${bullmq}/tool-jobs.ts`,
    'a second delivery begins the body again',
    '(!again || job.attemptsStarted > 2)',
    'job.attemptsStarted > 2',
    faults,
    'in the middle of a body',
  ],
  [
    `${bullmq}/job-worker.ts`,
    'the end of a first run ends the lock of the second',
    'runs.delete(started)',
    'runs.clear()',
    sessions,
    'SIGSTOP of the only orchestrator',
  ],
  [
    `${bullmq}/tool-jobs.ts`,
    'without a message, a stop is noticed only at the end',
    'if (reason !== null) jobs[index]?.stop.abort(reason)',
    '',
    'packages/bullmq/test/bull-runner.test.ts',
    'between pick-up and start',
  ],
  [
    'src/node/local-runner/bodies-in-process.ts',
    'a body in the worker that does not stop keeps its call open',
    "giveUp: () => ({ status: 'unknown', because: 'The body did not stop within its grace period, and goes on.' }),",
    'giveUp: () => undefined,',
    'packages/bullmq/test/bull-runner.test.ts',
    'does not stop goes on',
  ],
  [
    `${bullmq}/sessions/serve-sessions.ts`,
    'a job that names no session reaches the host',
    "return typeof id === 'string' ? id : undefined",
    'return id',
    sessions,
    'whatever others queue',
  ],
  [
    `${bullmq}/journals/stored-sessions.ts`,
    'a damaged entry hides the other sessions',
    'return error instanceof Error ? error : new Error(String(error))',
    'throw error',
    journals,
    'bad values',
  ],
  [
    `${bullmq}/seal.ts`,
    'a sealed worker takes what is not sealed',
    "if (typeof sealed !== 'string') throw new Error('it is not sealed.')",
    "if (typeof sealed !== 'string') return given",
    faults,
    'with a seal',
  ],
  [`${bullmq}/seal.ts`, 'a sealed text may be moved to another job', '`call $', '`call` ?? `$', faults, 'with a seal'],
]

const here = resolve(import.meta.dirname, '../..')
const at = process.argv.indexOf('--only')
const wanted = at < 0 ? /./ : new RegExp(process.argv[at + 1])
const copy = mkdtempSync(join(tmpdir(), 'signalbox-mutants-'))
process.on('exit', () => rmSync(copy, { recursive: true, force: true }))
const listed = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], { cwd: here })
for (const file of String(listed).split('\n').filter(Boolean)) cpSync(join(here, file), join(copy, file))
symlinkSync(join(here, 'node_modules'), join(copy, 'node_modules'))

/** Whether the tests pass. */
async function pass(test, title) {
  const args = ['vitest', 'run', test, '-t', title, '--maxWorkers=1', '--testTimeout=20000', '--retry=0']
  try {
    const options = { cwd: copy, timeout: 180_000, maxBuffer: 1e8 }
    const { stdout } = await promisify(execFile)('npx', args, options)
    if (!/ passed/.test(stdout)) throw new Error(`${test} has no test with the title ${title}`)
    return true
  } catch (error) {
    if (error.code === undefined) throw error
    return false
  }
}

// without a fault, the tests must pass: otherwise they would find anything
const chosen = mutants.filter(([, fault]) => wanted.test(fault))
for (const test of new Set(chosen.map((mutant) => mutant[4]))) {
  const titles = chosen.filter((mutant) => mutant[4] === test).map((mutant) => mutant[5])
  if (!(await pass(test, titles.join('|')))) throw new Error(`${test} fails without a fault.`)
}

let left = 0
for (const [file, fault, from, to, test, title] of chosen) {
  const path = join(copy, file)
  const text = readFileSync(path, 'utf8')
  const pieces = text.split(from)
  if (pieces.length !== 2)
    throw new Error(
      `${fault}: expected this code once in ${dirname(file)}, found it ${pieces.length - 1} times: ${from}`,
    )
  writeFileSync(path, pieces.join(to))
  const isFound = !(await pass(test, title))
  writeFileSync(path, text)
  if (!isFound) left++
  console.log(`${isFound ? 'found' : 'NOT FOUND'}  ${fault} (${file})`)
}
process.exitCode = left === 0 ? 0 : 1
