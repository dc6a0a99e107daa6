import { fork } from 'node:child_process'

const script = new URL('../engine-process.mjs', import.meta.url)

/** An engine in a process of its own, which lives until `close` and answers one request at a time. */
export class EngineClient {
  #child
  #said = ''

  constructor(name) {
    this.name = name
    this.#child = fork(script, [name], { execArgv: ['--expose-gc'], stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
    for (const stream of [this.#child.stdout, this.#child.stderr]) stream.on('data', (text) => this.#hear(text))
  }

  /** Resolves when the engine is loaded. */
  ready() {
    return this.#answer(60_000)
  }

  /** What does not come in time is a failure: nothing here may hang. */
  ask(command, request = {}, timeoutMs = 300_000) {
    const answer = this.#answer(timeoutMs, command)
    this.#child.send({ command, ...request })
    return answer
  }

  close() {
    if (this.#child.connected) this.#child.disconnect()
  }

  #answer(timeoutMs, what = 'start') {
    return new Promise((resolve, reject) => {
      const settle = (done, value) => {
        clearTimeout(timer)
        this.#child.off('message', onMessage)
        this.#child.off('exit', onExit)
        done(value)
      }
      const fail = (why) => settle(reject, new Error(`${this.name}: ${why}\n${this.#said}`))
      const onMessage = ({ answer, error }) => (error === undefined ? settle(resolve, answer) : fail(error))
      const onExit = (code) => fail(`its process ended with ${code}`)
      const timer = setTimeout(() => {
        fail(`no answer to ${what} in ${timeoutMs / 1_000} s`)
        this.#child.kill('SIGKILL')
      }, timeoutMs)
      this.#child.on('message', onMessage)
      this.#child.on('exit', onExit)
    })
  }

  /** Shown only where something goes wrong. */
  #hear(text) {
    this.#said = `${this.#said}${text}`.slice(-4_000)
  }
}
