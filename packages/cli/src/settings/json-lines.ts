/** Parses JSON and keeps the line of each value, so that errors can name it. */
export interface LinedJson {
  readonly value: unknown
  /** The line of the value at this path, or of its nearest existing parent. */
  lineOf(path: readonly PropertyKey[]): number
}

/** A problem with its line. */
export class JsonProblem extends Error {
  readonly line: number

  constructor(line: number, problem: string) {
    super(problem)
    this.line = line
  }
}

const maxDepth = 100

export function readJson(text: string): LinedJson {
  const lines = new Map<string, number>()
  let at = text.startsWith('\ufeff') ? 1 : 0
  const lineAt = (position: number): number => text.slice(0, position).split('\n').length
  const fail = (problem: string, position = at): never => {
    throw new JsonProblem(lineAt(position), problem)
  }
  const skip = (): void => {
    while (/[ \t\r\n]/.test(text[at] ?? '')) at++
  }
  const take = (sign: string): boolean => {
    skip()
    if (text[at] !== sign) return false
    at++
    return true
  }
  const found = (): string => (at >= text.length ? 'the end of the file' : JSON.stringify(text[at]))

  const scalar = (): unknown => {
    const [token = ''] = /^(?:"(?:[^"\\\n]|\\.)*"|[-+\w.]+)/.exec(text.slice(at)) ?? []
    try {
      const value: unknown = JSON.parse(token)
      at += token.length
      return value
    } catch {
      return fail(`expected a JSON value, received ${token === '' ? found() : token.slice(0, 40)}`)
    }
  }
  const value = (path: readonly PropertyKey[]): unknown => {
    skip()
    if (path.length > maxDepth) fail('it nests too deeply')
    lines.set(JSON.stringify(path), lineAt(at))
    if (take('{')) return object(path)
    return take('[') ? array(path) : scalar()
  }
  const object = (path: readonly PropertyKey[]): object => {
    const entries: [string, unknown][] = []
    const names = new Set<string>()
    for (let isFirst = true; !take('}'); isFirst = false) {
      if (!isFirst && !take(',')) fail(`expected "," or "}", received ${found()}`)
      skip()
      const start = at
      if (text[at] !== '"') fail(`expected a name in double quotes, received ${found()}`)
      const name = scalar() as string
      if (names.has(name)) fail(`"${name}" occurs twice`, start)
      names.add(name)
      if (!take(':')) fail(`expected ":" after "${name}", received ${found()}`)
      entries.push([name, value([...path, name])])
    }
    return Object.fromEntries(entries)
  }
  const array = (path: readonly PropertyKey[]): unknown[] => {
    const items: unknown[] = []
    while (!take(']')) {
      if (items.length > 0 && !take(',')) fail(`expected "," or "]", received ${found()}`)
      items.push(value([...path, items.length]))
    }
    return items
  }

  const whole = value([])
  skip()
  if (at < text.length) fail(`expected the end of the file, received ${found()}`)
  return {
    value: whole,
    lineOf(path) {
      for (let end = path.length; end >= 0; end--) {
        const line = lines.get(JSON.stringify(path.slice(0, end)))
        if (line !== undefined) return line
      }
      return 1
    },
  }
}
