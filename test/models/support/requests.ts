import type { ModelRequest } from '../../../src/model/model.ts'

/** A plain question, with whatever the test is about. */
export const ask = (rest: Partial<ModelRequest> = {}): ModelRequest => ({
  messages: [{ role: 'user', content: 'Go.' }],
  tools: [],
  signal: new AbortController().signal,
  ...rest,
})

export const readSchema = {
  name: 'Read',
  description: 'Reads a file.',
  input_schema: { type: 'object' as const, properties: { path: { type: 'string' } }, required: ['path'] },
}
