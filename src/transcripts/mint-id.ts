/** Ids that the API accepts. */
export const isValidId = (id: unknown): id is string => typeof id === 'string' && /^[a-zA-Z0-9_-]+$/.test(id)

/** Creates unused ids, deterministically for a given transcript. */
export class IdMint {
  readonly #taken: Set<string>
  readonly #counts = new Map<string, number>()

  constructor(taken: Iterable<string>) {
    this.#taken = new Set(taken)
  }

  /** An unused id as close to the given one as possible. */
  mint(like: string): string {
    const base = like.replace(/[^a-zA-Z0-9_-]/g, '_') || 'call'
    let id = base
    for (let count = this.#counts.get(base) ?? 1; this.#taken.has(id); this.#counts.set(base, count)) {
      count++
      id = `${base}_${count}`
    }
    this.#taken.add(id)
    return id
  }
}
