const maxChars = 64

/**
 * A call's name in a form that services accept. Models invent names such as `functions.Read`, and a service would then
 * reject every later request. Names of `known` tools stay unchanged.
 */
export function sentName(name: unknown, known: ReadonlySet<string>): string {
  if (typeof name !== 'string' || name === '') return 'unknown_tool'
  return known.has(name) ? name : name.replace(/[^\w-]/g, '_').slice(0, maxChars)
}
