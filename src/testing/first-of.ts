/** The first problem among the items. */
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

/** The ids of calls, as text. */
export const list = (calls: readonly { readonly id: string }[]): string => calls.map(({ id }) => id).join(', ')
