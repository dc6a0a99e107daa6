import { byName, collect, maxConcurrency, PlainCall } from '../engine-parts/plain-call.mjs'

/** The same rules without scanning: two cursors and two counters. */
class Counters {
  #calls = []
  #next = 0
  #cursor = 0
  #executing = 0
  #isExclusive = false
  #wake = () => {}

  constructor(tools) {
    this.tools = byName(tools)
  }

  add(block) {
    this.#calls.push(new PlainCall(block, this.tools.get(block.name)))
    this.#startWhatMay()
  }

  async *results() {
    while (this.#cursor < this.#calls.length) {
      const first = this.#calls[this.#cursor]
      if (first.state === 'completed') {
        this.#cursor++
        yield first.result
      } else {
        await new Promise((resolve) => {
          this.#wake = resolve
        })
      }
    }
  }

  #startWhatMay() {
    while (this.#next < this.#calls.length && this.#mayStart(this.#calls[this.#next])) {
      this.#start(this.#calls[this.#next++])
    }
  }

  #mayStart(call) {
    if (this.#executing === 0) return true
    return call.isSafe && !this.#isExclusive && this.#executing < maxConcurrency
  }

  async #start(call) {
    call.state = 'executing'
    this.#executing++
    this.#isExclusive = !call.isSafe
    await call.run()
    call.state = 'completed'
    this.#executing--
    this.#isExclusive = false
    this.#startWhatMay()
    this.#wake()
  }
}

export const engine = {
  title: 'Plain class, counters',
  packages: [],
  scope: 'tools',
  gives: { order: 'calls', isExclusive: true, startsEarly: true, sideBySide: maxConcurrency, validates: false },
  prepare({ tools, calls }) {
    return async () => {
      const executor = new Counters(tools)
      for (const block of calls) executor.add(block)
      return { results: await collect(executor.results()), executor }
    }
  },
}
