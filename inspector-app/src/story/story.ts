import type { Frame } from '../../../src/inspect/index.ts'
import type { History } from '../model/history.ts'
import { Narrator, type Told } from './narrator.ts'

/** The sentences of a history, in small steps: a long recording must not block the page. */
export class Story {
  readonly #history: History
  readonly #narrator = new Narrator()
  #seen = 0

  constructor(history: History) {
    this.#history = history
  }

  get told(): readonly Told[] {
    return this.#narrator.told
  }

  /** How many earlier sentences are no longer kept. */
  get forgotten(): number {
    return this.#narrator.forgotten
  }

  /** How many frames are told. */
  get position(): number {
    return this.#seen
  }

  get isBehind(): boolean {
    return this.#seen < this.#history.length
  }

  advance(maxMs: number): void {
    const until = performance.now() + maxMs
    while (this.isBehind) {
      if (this.#seen < this.#history.start) this.#skip()
      this.#narrator.see(this.#history.at(this.#seen++) as Frame)
      if (this.#seen % 32 === 0 && performance.now() > until) return
    }
    this.#narrator.tell()
  }

  /** The frames between are no longer kept: the story says so, and goes on from the state after them. */
  #skip(): void {
    const lost = this.#history.start - this.#seen
    for (const frame of this.#history.opening()) this.#narrator.see(frame.type === 'gap' ? { ...frame, lost } : frame)
    this.#seen = this.#history.start
  }
}

const known = new WeakMap<History, Story>()

export function storyOf(history: History): Story {
  const found = known.get(history) ?? new Story(history)
  known.set(history, found)
  return found
}
