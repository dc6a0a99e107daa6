interface Reached {
  readonly story: readonly string[]
  readonly from: Reached[]
  isEnd: boolean
}

/** The states that were reached, and their predecessors. */
export class StateGraph {
  readonly #states = new Map<string, Reached>()

  get size(): number {
    return this.#states.size
  }

  /** Returns true if the state is new. */
  add(state: string, story: readonly string[], from?: string): boolean {
    const before = from === undefined ? undefined : this.#states.get(from)
    const known = this.#states.get(state)
    if (known !== undefined) {
      if (before !== undefined) known.from.push(before)
      return false
    }
    this.#states.set(state, { story, from: before === undefined ? [] : [before], isEnd: false })
    return true
  }

  isEnd(state: string): void {
    const known = this.#states.get(state)
    if (known !== undefined) known.isEnd = true
  }

  /** The shortest story to a state that cannot reach an end. */
  deadEnd(): readonly string[] | undefined {
    const all = [...this.#states.values()]
    const ends = all.filter(({ isEnd }) => isEnd)
    const saved = new Set(ends)
    for (let next = ends.pop(); next !== undefined; next = ends.pop()) {
      for (const before of next.from) {
        if (saved.has(before)) continue
        saved.add(before)
        ends.push(before)
      }
    }
    return all.find((state) => !saved.has(state))?.story
  }
}
