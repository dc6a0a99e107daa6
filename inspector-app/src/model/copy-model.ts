import type { Model, Run } from './model.ts'

/** Fields that are replaced and never changed in place: values of the host, and parts of frames. */
const replaced: ReadonlySet<string> = new Set([
  ...['input', 'context', 'data', 'keys', 'active', 'waits', 'questions', 'can', 'cursor', 'blockers', 'cause', 'path'],
])

/** Lists of entries that are never changed in place: the list is copied, its entries are not. */
const listed: ReadonlySet<string> = new Set([
  ...['results', 'failures', 'replies', 'ledger', 'refusals', 'changes', 'warnings', 'charts'],
])

/** No later frame changes it: the recorder has left, and nothing of it is in the background. */
export const isSettled = ({ isWatched, background }: Run): boolean => !isWatched && background.size === 0

/**
 * The model, to go on from this moment while the original stays as it is. Runs that no frame changes any more are shared,
 * and so are values and texts: a copy of a long recording costs little.
 */
export function copyModel(model: Model): Model {
  const copies = new Map<object, unknown>()
  const runs = new Map([...model.runs].map(([id, run]) => [id, isSettled(run) ? run : copyOf(run, copies)]))
  return { ...model, runs, servers: copyOf(model.servers, copies), gaps: [...model.gaps] }
}

/** Objects that occur twice, such as a call in the list and by its id, are one object in the copy too. */
function copyOf<Value>(value: Value, copies: Map<object, unknown>): Value {
  if (typeof value !== 'object' || value === null) return value
  const known = copies.get(value)
  if (known !== undefined) return known as Value
  return copyObject(value, copies) as Value
}

function copyObject(value: object, copies: Map<object, unknown>): object {
  if (Array.isArray(value)) {
    const list: unknown[] = []
    copies.set(value, list)
    for (const each of value) list.push(copyOf(each, copies))
    return list
  }
  if (value instanceof Map) {
    const map = new Map<unknown, unknown>()
    copies.set(value, map)
    for (const [key, each] of value) map.set(key, copyOf(each, copies))
    return map
  }
  if (value instanceof Set) return new Set(value)
  const fields: Record<string, unknown> = {}
  copies.set(value, fields)
  for (const [key, each] of Object.entries(value))
    fields[key] = listed.has(key) ? listOf(each) : replaced.has(key) ? each : copyOf(each, copies)
  return fields
}

const listOf = (value: unknown): unknown =>
  value instanceof Map ? new Map(value) : Array.isArray(value) ? [...value] : value
