/** Two values as JSON. Of long ones, the error shows where they begin to differ. */
export function expectSame(what: string, actual: unknown, expected: unknown): void {
  const [is, should] = [String(JSON.stringify(actual)), String(JSON.stringify(expected))]
  if (is === should) return
  let same = 0
  while (is[same] === should[same]) same++
  throw new Error(`${what}: expected ${around(should, same)}, received ${around(is, same)}`)
}

const [mostBefore, most] = [60, 400]

function around(text: string, at: number): string {
  if (text.length <= most) return text
  const from = Math.max(0, at - mostBefore)
  const part = text.slice(from, from + most)
  return `${from > 0 ? '…' : ''}${part}${from + most < text.length ? '…' : ''} (${text.length} characters)`
}
