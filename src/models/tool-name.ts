const maxChars = 64

/**
 * The name of a call as services take it back. Models make up names that no service accepts, such as
 * `functions.Read`, and one of them would have every later request refused. Names of `known` tools stay as they are.
 */
export function sentName(name: unknown, known: ReadonlySet<string>): string {
  if (typeof name !== 'string' || name === '') return 'unknown_tool'
  return known.has(name) ? name : name.replace(/[^\w-]/g, '_').slice(0, maxChars)
}
