/** A value with a type, such as a block. */
export const isTyped = (value: unknown): boolean => typeof Object(value).type === 'string'

/** Whether this is valid message content: a text, or blocks. */
export const isContent = (value: unknown): boolean =>
  typeof value === 'string' || (Array.isArray(value) && value.every(isTyped))
