import { z } from 'zod'

export const mixes = {
  safe: { title: 'All calls safe', isSafe: () => true },
  alternating: { title: 'Safe and unsafe calls in turn', isSafe: (index) => index % 2 === 0 },
  unsafe: { title: 'All calls unsafe', isSafe: () => false },
}

const inputSchema = z.object({ n: z.number(), text: z.string() })

export const textOf = ({ n, text }) => `${text} ${n}`

const resolveAtOnce = async (input) => ({ data: textOf(input) })

/** The two tools of every turn, in Signalbox's format; the other engines read the same objects. */
export function createTools(call = resolveAtOnce) {
  return [
    { name: 'Read', inputSchema, isConcurrencySafe: () => true, call: (input) => call(input, false) },
    { name: 'Write', inputSchema, isConcurrencySafe: () => false, call: (input) => call(input, true) },
  ]
}

/** The calls of one turn, as a model emits them. */
export function createCalls(count, mix) {
  return Array.from({ length: count }, (_, n) => ({
    type: 'tool_use',
    id: `toolu_${n}`,
    name: mixes[mix].isSafe(n) ? 'Read' : 'Write',
    input: { n, text: 'line' },
  }))
}
