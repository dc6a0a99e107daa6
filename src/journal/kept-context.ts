/** The keys of a context that are kept. JSON has no `undefined`, so those without a value are named. */
export interface KeptContext {
  readonly context: Readonly<Record<string, unknown>>
  readonly unset?: readonly string[] | undefined
}

export function keptOf(context: Readonly<Record<string, unknown>>, keys: readonly string[]): KeptContext {
  const unset = keys.filter((key) => context[key] === undefined)
  const set = keys.filter((key) => context[key] !== undefined)
  return {
    context: Object.fromEntries(set.map((key) => [key, context[key]])),
    ...(unset.length > 0 && { unset }),
  }
}

/** As changes of another context: a key that had no value has none there either. */
export const changesOf = ({ context, unset = [] }: KeptContext): Record<string, unknown> => ({
  ...context,
  ...Object.fromEntries(unset.map((key) => [key, undefined])),
})
