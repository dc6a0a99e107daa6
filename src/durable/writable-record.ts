import { describeValue } from '../base/describe-value.ts'

const maxChars = 2_000

/** A value that JSON can express, and its JSON: whoever writes the value needs not make it again. */
export interface Writable<Value> {
  readonly value: Value
  readonly json: string
}

/** The value unchanged if JSON can express it; otherwise a copy in which a text describes each part that it cannot. */
export function writable<Value extends object>(value: Value): Writable<Value> {
  try {
    return { value, json: JSON.stringify(value) }
  } catch {
    const copy = copied(value, []) as Value
    return { value: copy, json: JSON.stringify(copy) }
  }
}

function copied(value: unknown, around: readonly unknown[]): unknown {
  if (typeof value === 'bigint') return String(value)
  if (typeof value !== 'object' || value === null) return value
  if (around.includes(value)) return '(circular)'
  try {
    const inner = [...around, value]
    if (Array.isArray(value)) return value.map((each) => copied(each, inner))
    if (typeof (value as { toJSON?: unknown }).toJSON === 'function') return JSON.parse(JSON.stringify(value))
    return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, copied(each, inner)]))
  } catch {
    return describeValue(value, maxChars)
  }
}
