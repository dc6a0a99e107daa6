import type { Encoded } from 'signalbox/inspect'

const fieldsOf = (value: Encoded): { readonly [key: string]: Encoded } | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as { readonly [key: string]: Encoded })
    : undefined

/** The text of a value in a frame; undefined if it is not text. */
export function plainText(value: Encoded | undefined): string | undefined {
  if (typeof value === 'string') return value
  const fields = value === undefined ? undefined : fieldsOf(value)
  return fields?.$ === 'text' && typeof fields.text === 'string' ? fields.text : undefined
}

/** Number of characters that a frame omitted. */
export function leftOut(value: Encoded | undefined): number {
  const fields = value === undefined ? undefined : fieldsOf(value)
  const text = plainText(value)
  return fields?.$ === 'text' && typeof fields.length === 'number' && text !== undefined
    ? fields.length - text.length
    : 0
}

/** A field of an input, if it is text. */
export const textField = (value: Encoded | undefined, name: string): string | undefined => {
  const fields = value === undefined ? undefined : fieldsOf(value)
  return plainText(fields?.[name])
}

/** The content of a tool's result as text; other blocks appear as their type in brackets. */
export function resultText(content: Encoded): string {
  const text = plainText(content)
  if (text !== undefined) return text
  if (!Array.isArray(content)) return JSON.stringify(content)
  return (content as readonly Encoded[])
    .map((block) => {
      const fields = fieldsOf(block)
      return fields?.type === 'text' ? (plainText(fields.text) ?? '') : `[${String(fields?.type ?? 'something')}]`
    })
    .join('\n')
}
