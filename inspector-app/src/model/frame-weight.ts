import type { Encoded, Frame } from '../../../src/inspect/index.ts'

/** About how many characters a frame takes: its texts, and a little for each value. */
export const weightOf = (frame: Frame): number =>
  // equal charts are kept once
  frame.type === 'chart' ? 100 : weigh(frame as unknown as Encoded)

function weigh(value: Encoded): number {
  if (typeof value === 'string') return 20 + value.length
  if (typeof value !== 'object' || value === null) return 10
  let sum = 20
  if (Array.isArray(value)) for (const each of value) sum += weigh(each)
  else for (const each of Object.values(value)) sum += weigh(each)
  return sum
}
