import type { Encoded } from './encode-value.ts'

/**
 * Texts that were made from an input, such as the label of a call, and what is shown in their place. They return in
 * events, reasons and results of other calls, where `redact` cannot know them.
 */
export class DerivedTexts {
  readonly #shown = new Map<string, string>()

  /** Notes that one text is shown as another. */
  add(text: string, shown: string): void {
    if (text !== shown && text !== '') this.#shown.set(text, shown)
  }

  clean(value: Encoded): Encoded {
    return this.#shown.size === 0 ? value : this.#clean(value)
  }

  #clean(value: Encoded): Encoded {
    if (typeof value === 'string') return this.#replace(value)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map((each: Encoded) => this.#clean(each))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, this.#clean(each)]))
  }

  #replace(text: string): string {
    let cleaned = text
    for (const [found, shown] of this.#shown) if (cleaned.includes(found)) cleaned = cleaned.replaceAll(found, shown)
    return cleaned
  }
}
