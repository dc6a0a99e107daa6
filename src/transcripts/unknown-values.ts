import { readField } from '../base/read-field.ts'

/** The items of an array; undefined if it is not an array. An item that cannot be read becomes undefined. */
export function readList(value: unknown): unknown[] | undefined {
  try {
    if (!Array.isArray(value)) return undefined
    const items: unknown[] = []
    for (let index = 0; index < value.length; index++) items.push(readItem(value, index))
    return items
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

const knownFields = ['role', 'id', 'name', 'input', 'tool_use_id', 'content', 'is_error', 'text', 'uuid', 'timestamp']

/** A copy with other fields. If the original cannot be copied, only the known fields are read. */
export function withFields<Source, Fields extends object>(source: Source, fields: Fields): Source & Fields {
  try {
    return { ...source, ...fields }
  } catch {
    const found = knownFields.map((key) => [key, readField(source, key)]).filter(([, value]) => value !== undefined)
    return { ...Object.fromEntries(found), ...fields } as Source & Fields
  }
}
