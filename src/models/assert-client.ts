import { invalidOption } from '../base/invalid-option.ts'
import { readField } from '../base/read-field.ts'

/** Throws when the model is created, not at the first request. */
export function assertClient(client: unknown, maker: string, path: readonly string[]): void {
  const method = path.reduce<unknown>((value, key) => readField(value, key), client)
  if (typeof method === 'function') return
  invalidOption(maker, `a client with ${path.join('.')}()`, client)
}
