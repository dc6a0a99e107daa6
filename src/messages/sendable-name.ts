const maxChars = 128

/**
 * A call's name in a form that services accept: letters, digits, `_` and `-`. Models invent names such as
 * `functions.Read`; a service rejects a request that repeats one, and every later request.
 */
export const sendableName = (name: unknown): string =>
  typeof name === 'string' && name !== '' ? name.slice(0, maxChars).replace(/[^a-zA-Z0-9_-]/g, '_') : 'unknown_tool'
