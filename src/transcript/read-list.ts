import { readField } from '../errors/read-field.ts'

/** The items of an array; undefined where it is none. What cannot be read of it comes out as undefined. */
export function readList(value: unknown): unknown[] | undefined {
  try {
    if (!Array.isArray(value)) return undefined
    return Array.from({ length: value.length }, (_, index) => readItem(value, index))
  } catch {
    return undefined
  }
}

function readItem(list: readonly unknown[], index: number): unknown {
  try {
    return list[index]
  } catch {
    return undefined
  }
}

/** An object that is not an array, as far as can be told of a stranger. */
export function isRecord(value: unknown): value is Record<string, unknown> {
  try {
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

const knownFields = ['type', 'id', 'name', 'input', 'tool_use_id', 'content', 'is_error', 'text', 'uuid', 'timestamp']

/** A copy with other fields. Where the original does not let itself be copied, what we know to look for. */
export function withFields<Fields extends object>(source: unknown, fields: Fields): Fields {
  try {
    return { ...(source as object), ...fields }
  } catch {
    const found = knownFields.map((key) => [key, readField(source, key)]).filter(([, value]) => value !== undefined)
    return { ...Object.fromEntries(found), ...fields }
  }
}
