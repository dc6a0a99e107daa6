import { byName, collect, maxConcurrency, PlainCall } from '../engine-parts/plain-call.mjs'

/** A naive scheduler: an array of calls that is scanned on every event. */
class ArrayScan {
  #calls = []
  #wake = () => {}

  constructor(tools) {
    this.tools = byName(tools)
  }

  add(block) {
    this.#calls.push(new PlainCall(block, this.tools.get(block.name)))
    this.#startWhatMay()
  }

  async *results() {
    while (this.#calls.some((call) => call.state !== 'yielded')) {
      const first = this.#calls.find((call) => call.state !== 'yielded')
      if (first.state === 'completed') {
        first.state = 'yielded'
        yield first.result
      } else {
        await new Promise((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }

  #startWhatMay() {
    for (const call of this.#calls) {
      if (call.state !== 'queued') continue
      if (!this.#mayStart(call)) return
      this.#start(call)
    }
  }

  #mayStart(call) {
    const executing = this.#calls.filter((other) => other.state === 'executing')
    if (executing.length === 0) return true
    return call.isSafe && executing.length < maxConcurrency && executing.every((other) => other.isSafe)
  }

  async #start(call) {
    call.state = 'executing'
    await call.run()
    call.state = 'completed'
    this.#startWhatMay()
    this.#wake()
  }
}

export const engine = {
  title: 'Plain class, array scan',
  packages: [],
  scope: 'tools',
  gives: { order: 'calls', isExclusive: true, startsEarly: true, sideBySide: maxConcurrency, validates: false },
  prepare({ tools, calls }) {
    return async () => {
      const executor = new ArrayScan(tools)
      for (const block of calls) executor.add(block)
      return { results: await collect(executor.results()), executor }
    }
  },
}
