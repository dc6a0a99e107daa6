import type { Encoded } from '../../inspect/index.ts'

const fieldsOf = (value: Encoded): { readonly [key: string]: Encoded } | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
    ? (value as { readonly [key: string]: Encoded })
    : undefined

/** The text in what a frame shows; undefined where it is none. */
export function plainText(value: Encoded | undefined): string | undefined {
  if (typeof value === 'string') return value
  const fields = value === undefined ? undefined : fieldsOf(value)
  return fields?.$ === 'text' && typeof fields.text === 'string' ? fields.text : undefined
}

/** How much of a text a frame left out. */
export function leftOut(value: Encoded | undefined): number {
  const fields = value === undefined ? undefined : fieldsOf(value)
  const text = plainText(value)
  return fields?.$ === 'text' && typeof fields.length === 'number' && text !== undefined
    ? fields.length - text.length
    : 0
}

/** A field of an input, where it is text. */
export const textField = (value: Encoded | undefined, name: string): string | undefined => {
  const fields = value === undefined ? undefined : fieldsOf(value)
  return plainText(fields?.[name])
}

/** A field of an input, where it is a list; else the input itself as its only item. */
export function listField(value: Encoded, name: string): readonly Encoded[] {
  const list = fieldsOf(value)?.[name]
  return Array.isArray(list) ? (list as readonly Encoded[]) : [value]
}

/** The content of a tool's result as text; what is not text is named in brackets. */
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
