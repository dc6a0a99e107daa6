import type { Encoded, Frame } from '../../../src/inspect/index.ts'

/** About how many characters a frame takes: its texts, and a little for each value. */
export function weightOf(frame: Frame): number {
  switch (frame.type) {
    case 'result':
      return 100 + weigh(frame.content)
    case 'call':
      return 200 + weigh(frame.input)
    case 'event':
    case 'progress':
      return 100 + weigh(frame.data)
    case 'actor':
      return 100 + weigh(frame.context)
    case 'step':
      return 100 + weigh((frame.context?.set ?? []) as Encoded)
    case 'questions':
      return 100 + weigh(frame.open as unknown as Encoded)
    case 'said':
      return 100 + frame.text.length
    default:
      return 100
  }
}

function weigh(value: Encoded): number {
  if (typeof value === 'string') return 20 + value.length
  if (typeof value !== 'object' || value === null) return 10
  let sum = 20
  if (Array.isArray(value)) for (const each of value) sum += weigh(each)
  else for (const each of Object.values(value)) sum += weigh(each)
  return sum
}
