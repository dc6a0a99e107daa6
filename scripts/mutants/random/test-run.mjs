import { execFileSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { loadConfigFromFile } from 'vite'
import { createVitest } from 'vitest/node'

/** A test that hangs is the usual sign of a fault. */
const testTimeout = 30_000
/** But a slow test on a busy machine is not: a test hangs if it takes this many times as long as without the fault. */
const slowdown = 10
/** A fault that never returns to the event loop stops all tests, and is ended from outside after this time more. */
const silence = 15_000

/** Keeps the order in which the files were handed over. */
class AsGiven {
  sort(files) {
    return files
  }

  shard(files) {
    return files
  }
}

/**
 * One long-lived Vitest. Sources are transformed once; each run has a fresh process, in which all test files share
 * their modules. The mutated source exists in memory only.
 */
export class TestRun {
  #vitest
  #mutated
  #root
  #watchdog
  #testTimeout = testTimeout
  /** Of this run. What the result of a run says includes the files of earlier runs. */
  #failure

  static async start(root) {
    const run = new TestRun()
    run.#root = root
    const { config } = await loadConfigFromFile({ command: 'serve', mode: 'quick' }, `${root}/vite.config.ts`, root)
    const serveMutant = {
      name: 'mutant',
      enforce: 'pre',
      load: (id) => (id === run.#mutated?.path ? run.#mutated.source : undefined),
    }
    const { setupFiles } = config.test
    run.#vitest = await createVitest(
      'test',
      {
        config: false,
        root,
        watch: false,
        include: ['{test,packages/*/test}/**/*.test.ts'],
        setupFiles: setupFiles.map((path) => `${root}/${path}`),
        pool: 'forks',
        isolate: false,
        fileParallelism: false,
        maxWorkers: 1,
        bail: 1,
        testTimeout,
        hookTimeout: testTimeout,
        teardownTimeout: 2_000,
        reporters: [
          { onTestModuleQueued: run.#heard, onTestCaseResult: run.#heardTest, onTestModuleEnd: run.#heardFile },
        ],
        sequence: { sequencer: AsGiven },
      },
      { resolve: config.resolve, plugins: [serveMutant], logLevel: 'silent' },
    )
    await run.#vitest.standalone()
    return run
  }

  /** How long each of these files takes, in milliseconds, without a mutant. All of them must pass. */
  async timesOf(testFiles) {
    const testModules = await this.#runUnchanged(testFiles)
    if (this.#failure) throw new Error(`${this.#failure.file} fails without any mutant: ${this.#failure.test}`)
    const times = new Map(testModules.map((each) => [each.relativeModuleId, Math.max(1, each.diagnostic().duration)]))
    const absent = testFiles.find((file) => !times.has(file))
    if (absent !== undefined) throw new Error(`${absent} has no test`)
    return times
  }

  /** The first test file that fails with this source in place of the file, or undefined. */
  async firstFailure(testFiles, mutated) {
    const found = await this.#firstFailure(testFiles, mutated)
    if (found?.isTimeout !== true) return found
    const limit = slowdown * (await this.#slowestTestOf(found.file))
    if (limit <= testTimeout) return found
    this.#limit(limit)
    try {
      return await this.#firstFailure(testFiles.slice(testFiles.indexOf(found.file)), mutated)
    } finally {
      this.#limit(testTimeout)
    }
  }

  /** In milliseconds, without a mutant, and as busy as the machine is now. */
  async #slowestTestOf(testFile) {
    const module = (await this.#runUnchanged([testFile])).find((each) => each.relativeModuleId === testFile)
    return Math.max(...[...module.children.allTests()].map((test) => test.diagnostic()?.duration ?? 0))
  }

  async #runUnchanged(testFiles) {
    this.#failure = undefined
    this.#limit(slowdown * testTimeout)
    try {
      return (await this.#vitest.runTestSpecifications(this.#specificationsOf(testFiles))).testModules
    } finally {
      this.#limit(testTimeout)
    }
  }

  #limit(ms) {
    this.#testTimeout = ms
    for (const { config } of this.#vitest.projects) config.testTimeout = ms
  }

  async #firstFailure(testFiles, mutated) {
    const path = mutated && `${this.#root}/${mutated.file}`
    this.#mutated = mutated && { path, source: mutated.source }
    if (mutated !== undefined) this.#forget(path)
    this.#failure = undefined
    this.#heard()
    try {
      const specifications = this.#specificationsOf(testFiles)
      const { unhandledErrors } = await this.#vitest.runTestSpecifications(specifications)
      if (this.#failure !== undefined || unhandledErrors.length === 0) return this.#failure
      return { file: '', test: String(unhandledErrors[0]?.message) }
    } catch (error) {
      return { file: '', test: String(error?.message) }
    } finally {
      clearTimeout(this.#watchdog)
      this.#mutated = undefined
      if (mutated !== undefined) this.#forget(path)
    }
  }

  close() {
    return this.#vitest.close()
  }

  #heard = () => {
    clearTimeout(this.#watchdog)
    if (this.#mutated !== undefined) this.#watchdog = setTimeout(() => this.#killWorkers(), this.#testTimeout + silence)
  }

  #heardTest = (test) => {
    this.#heard()
    const { state, errors } = test.result()
    if (state !== 'failed') return
    const isTimeout = errors.some(({ message }) => message.startsWith('Test timed out in'))
    this.#failure ??= { file: test.module.relativeModuleId, test: test.fullName, isTimeout }
  }

  #heardFile = (module) => {
    this.#heard()
    if (module.state() === 'failed') this.#failure ??= { file: module.relativeModuleId, test: failedTestOf(module) }
  }

  #specificationsOf(testFiles) {
    return testFiles.flatMap((file) => this.#vitest.getModuleSpecifications(`${this.#root}/${file}`))
  }

  #forget(path) {
    this.#vitest.invalidateFile(path)
  }

  #killWorkers() {
    for (const pid of childrenOf(process.pid)) if (isWorker(pid)) process.kill(pid, 'SIGKILL')
  }
}

function failedTestOf(module) {
  for (const test of module.children.allTests('failed')) return test.fullName
  return 'the file does not load'
}

const childrenOf = (pid) =>
  execFileSync('ps', ['--ppid', String(pid), '-o', 'pid='], { encoding: 'utf8' })
    .split('\n')
    .filter(Boolean)
    .map(Number)

const isWorker = (pid) => {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes('vitest')
  } catch {
    return false
  }
}
