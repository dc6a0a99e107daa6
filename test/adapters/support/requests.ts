import type { MessageLike } from '../../../src/index.ts'
import type { ModelRequest } from '../../../src/models/model.ts'

/** A plain question, with additional fields. */
export const ask = ({ messages = [{ role: 'user', content: 'Go.' }], ...rest }: Asked = {}): ModelRequest => ({
  messages: messages as ModelRequest['messages'],
  tools: [],
  signal: new AbortController().signal,
  ...rest,
})

/** With blocks of any kind. */
export type Asked = Omit<Partial<ModelRequest>, 'messages'> & { readonly messages?: readonly MessageLike[] }

export const readSchema = {
  name: 'Read',
  description: 'Reads a file.',
  input_schema: { type: 'object' as const, properties: { path: { type: 'string' } }, required: ['path'] },
}
