/** Something of a type, such as a block. */
export const isTyped = (value: unknown): boolean => typeof Object(value).type === 'string'

/** Whether this can be what a message says: a text, or blocks. */
export const isContent = (value: unknown): boolean =>
  typeof value === 'string' || (Array.isArray(value) && value.every(isTyped))
