/** An option that may be given several times. */
export const collect = (text: string, before: readonly string[] = []): string[] => [...before, text]

/** The same, and each time a list: `Read,Grep`. */
export const readList = (text: string, before: readonly string[] = []): string[] => [
  ...before,
  ...text.split(',').map((name) => name.trim()),
]
