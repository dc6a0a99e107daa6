const isDeclared = /\bModelStream = class\b|\bclass ModelStream\b/
const start = /^(\s*start\(model, request\) \{)$/m

/**
 * For tests: a file of the built library in which each query tells `signalboxTestRequest` what it asks its model.
 * Undefined if the file does not contain that class.
 */
export function tellsRequests(text) {
  const at = text.search(isDeclared)
  if (at < 0) return undefined
  const rest = text.slice(at)
  if (!start.test(rest)) throw new Error('ModelStream has no method start(model, request)')
  return text.slice(0, at) + rest.replace(start, '$1 globalThis.signalboxTestRequest?.(request);')
}
