import { readField } from '../base/read-field.ts'

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
