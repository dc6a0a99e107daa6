import type { ResourceKeys } from '../../machines/index.ts'
import { describeValue } from '../base/describe-value.ts'
import { isRecord } from '../base/read-field.ts'

/** Longer keys, and more of them, would make the check of one call as slow as that of a whole turn. */
const mostKeys = 1_000
const longestKey = 4_096

/** The keys in the answer of `resources`. Throws if it is not one. */
export function readResources(answer: unknown): ResourceKeys {
  if (!isRecord(answer)) throw new TypeError(`expected { reads, writes }, received ${describeValue(answer, 100)}`)
  // a misspelt `writes` would let conflicting calls run at once
  const unknown = Object.keys(answer).find((field) => field !== 'reads' && field !== 'writes')
  if (unknown !== undefined)
    throw new TypeError(`expected { reads, writes }, received the property ${describeValue(unknown, 100)}`)
  return { reads: readKeys('reads', answer.reads), writes: readKeys('writes', answer.writes) }
}

function readKeys(field: string, given: unknown): string[] {
  if (given === undefined) return []
  if (!Array.isArray(given)) {
    throw new TypeError(`${field}: expected an array of keys, received ${describeValue(given, 100)}`)
  }
  const keys = [...new Set<unknown>(given)]
  if (keys.length > mostKeys)
    throw new TypeError(`${field}: expected at most ${mostKeys} keys, received ${keys.length}`)
  return keys.map((key) => {
    if (isKey(key)) return key
    throw new TypeError(`${field}: expected '*' or 'scheme:path', received ${describeValue(key, 100)}`)
  })
}

const isKey = (key: unknown): key is string =>
  key === '*' || (typeof key === 'string' && key.length <= longestKey && /^[a-z][a-z0-9+.-]*:./i.test(key))
