/** The first problem that is found, item by item. */
export const firstOf = <Item>(
  items: readonly Item[],
  problemOf: (item: Item) => string | undefined,
): string | undefined => {
  for (const item of items) {
    const problem = problemOf(item)
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Ids of calls, for people. */
export const list = (calls: readonly { readonly id: string }[]): string => calls.map(({ id }) => id).join(', ')
