import { fork } from 'node:child_process'

const script = new URL('../engine-process.mjs', import.meta.url)

/** The engine did not answer in time, and its process was killed. */
export class TooLate extends Error {}

/** An engine in a separate process, which lives until `close` and answers one request at a time. */
export class EngineClient {
  #child
  #said = ''

  constructor(name) {
    this.name = name
  }

  /** Resolves when the engine is loaded. */
  start() {
    this.#child = fork(script, [this.name], { execArgv: ['--expose-gc'], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream.on('data', (text) => this.#hear(text))
    return this.#answer('start', 60_000)
  }

  /** Rejects on timeout, so that nothing hangs. */
  ask(command, request = {}, timeoutMs = 120_000) {
    const answer = this.#answer(command, timeoutMs)
    this.#child.send({ command, ...request })
    return answer
  }

  close() {
    if (this.#child.connected) this.#child.disconnect()
  }

  #answer(what, timeoutMs) {
    const child = this.#child
    return new Promise((resolve, reject) => {
      const settle = (done, value) => {
        clearTimeout(timer)
        child.off('message', onMessage)
        child.off('exit', onExit)
        done(value)
      }
      const fail = (why, Kind = Error) => settle(reject, new Kind(`${this.name}: ${why}\n${this.#said}`))
      const onMessage = ({ answer, error }) => (error === undefined ? settle(resolve, answer) : fail(error))
      const onExit = (code) => fail(`its process ended with ${code}`)
      const timer = setTimeout(() => {
        fail(`no answer to ${what} in ${timeoutMs / 1_000} s`, TooLate)
        child.kill('SIGKILL')
      }, timeoutMs)
      child.on('message', onMessage)
      child.on('exit', onExit)
    })
  }

  /** Shown only on failure. */
  #hear(text) {
    this.#said = `${this.#said}${text}`.slice(-4_000)
  }
}
