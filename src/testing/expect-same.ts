/** Throws if two values differ as JSON. Needs no test framework. */
export function expectSame(what: string, actual: unknown, expected: unknown): void {
  const [is, should] = [JSON.stringify(actual), JSON.stringify(expected)]
  if (is !== should) throw new Error(`${what}: expected ${short(should)}, received ${short(is)}`)
}

const short = (text: string | undefined): string =>
  text !== undefined && text.length > 2_000 ? `${text.slice(0, 2_000)}… (${text.length} characters)` : String(text)
