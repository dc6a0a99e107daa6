/** An option that may be repeated. */
export const collect = (text: string, before: readonly string[] = []): string[] => [...before, text]

/** An option that may be repeated and takes a list: `Read,Grep`. */
export const readList = (text: string, before: readonly string[] = []): string[] => [
  ...before,
  ...text.split(',').map((name) => name.trim()),
]
