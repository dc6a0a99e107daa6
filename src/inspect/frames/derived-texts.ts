/** So many are kept: the texts of a call return in its own turn or, for a background call, a few turns later. */
const maxTexts = 10_000

/**
 * Texts that were made from an input, such as the label of a call, and what is shown in their place. They return in
 * events, reasons and results of other calls and in later turns, where `redact` cannot know them.
 */
export class DerivedTexts {
  /** By their beginning, the name of a tool and a bracket: most texts contain none of these. */
  readonly #shown = new Map<string, Map<string, string>>()
  #count = 0
  /** How the texts of a log name the calls of tools whose inputs are hidden. */
  readonly #named = new Map<string, RegExp>()

  /** Notes that one text is shown as another. */
  add(text: string, shown: string): void {
    if (text === shown || text === '') return
    const start = text.slice(0, text.indexOf('(') + 1) || text
    const alike = this.#shown.get(start) ?? new Map<string, string>()
    this.#shown.set(start, alike)
    if (!alike.has(text)) this.#count++
    alike.set(text, shown)
    if (this.#count > maxTexts) this.#forget()
  }

  /** Calls of this tool are shown as its name, where a text of the library describes them. */
  addTool(name: string): void {
    if (!this.#named.has(name)) this.#named.set(name, describedAs(name))
  }

  readonly clean = (text: string): string => {
    let cleaned = text
    for (const [name, described] of this.#named) {
      if (cleaned.includes(`${name}(`)) cleaned = cleaned.replace(described, () => name)
    }
    for (const [start, alike] of this.#shown) {
      if (!cleaned.includes(start)) continue
      for (const [found, shown] of alike) if (cleaned.includes(found)) cleaned = cleaned.replaceAll(found, shown)
    }
    return cleaned
  }

  /** Drops the oldest text of the tool that has most. */
  #forget(): void {
    const [most] = [...this.#shown.values()].sort((a, b) => b.size - a.size)
    const [oldest] = most?.keys() ?? []
    if (oldest !== undefined && most?.delete(oldest) === true) this.#count--
  }
}

/** A cancelled sibling, the outcome of a background call, and a call that waits for itself: see `resultTexts`. */
function describedAs(name: string): RegExp {
  const call = `${name.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}\\([^]{0,200}?\\)`
  return new RegExp(`${call}(?= errored|, has finished|, has failed|, is over| added this call)`, 'g')
}
