/** An error without the lines of its stack, which differ from machine to machine: the same story leaves the same words. */
export function plainError(message: string): Error {
  const error = new Error(message)
  error.stack = `Error: ${message}`
  return error
}
