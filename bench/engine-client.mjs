import { fork } from 'node:child_process'

const script = new URL('engine-process.mjs', import.meta.url)

/** An engine in a process of its own, which lives until `close` and answers one request at a time. */
export class EngineClient {
  #child

  constructor(name) {
    this.name = name
    this.#child = fork(script, [name], { execArgv: ['--expose-gc'], stdio: ['ignore', 'inherit', 'inherit', 'ipc'] })
  }

  ask(command, request = {}) {
    return new Promise((resolve, reject) => {
      const settle = (done, value) => {
        this.#child.off('message', onMessage)
        this.#child.off('exit', onExit)
        done(value)
      }
      const onMessage = ({ answer, error }) =>
        error === undefined ? settle(resolve, answer) : settle(reject, new Error(`${this.name}: ${error}`))
      const onExit = (code) => settle(reject, new Error(`${this.name}: its process ended with ${code}`))
      this.#child.on('message', onMessage)
      this.#child.on('exit', onExit)
      this.#child.send({ command, ...request })
    })
  }

  close() {
    if (this.#child.connected) this.#child.disconnect()
  }
}
