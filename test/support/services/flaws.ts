export type Fields = Record<string, unknown>

export const isRecord = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
export const isText = (value: unknown): value is string => typeof value === 'string' && value !== ''
export const listOf = (value: unknown): Fields[] => (Array.isArray(value) ? value.filter(isRecord) : [])

/** Valid names of tools and calls at OpenAI. */
export const isToolName = (name: unknown): boolean => isText(name) && /^[a-zA-Z0-9_-]{1,64}$/.test(name)

export const isJsonObject = (text: unknown): boolean => {
  try {
    return isText(text) && isRecord(JSON.parse(text))
  } catch {
    return false
  }
}

/** Unknown keys of an object. */
export const unknownKeys = (given: Fields, known: readonly string[]): string[] =>
  Object.keys(given).filter((key) => !known.includes(key) && given[key] !== undefined)

/** Collects the problems of a request. */
export function flawList() {
  const flaws: string[] = []
  return { flaws, check: (isFine: boolean, flaw: string) => void (isFine || flaws.push(flaw)) }
}

/** Calls without a result yet. */
export function openCalls(check: (isFine: boolean, flaw: string) => void) {
  const open = new Map<unknown, Fields>()
  const seen = new Set<unknown>()
  return {
    ask(id: unknown, call: Fields) {
      check(isText(id), 'a call without an id')
      check(!seen.has(id), `the call id ${id} twice`)
      seen.add(id)
      open.set(id, call)
    },
    answer(id: unknown): Fields | undefined {
      const call = open.get(id)
      check(call !== undefined, `a result for ${id}, which is no open call`)
      open.delete(id)
      return call
    },
    none(where: string) {
      check(open.size === 0, `${where} before the results of ${[...open.keys()].join(', ')}`)
      open.clear()
    },
  }
}
