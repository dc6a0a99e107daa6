/** An error without stack frames, which differ between machines: the same story must produce the same text. */
export function plainError(message: string): Error {
  const error = new Error(message)
  error.stack = `Error: ${message}`
  return error
}
