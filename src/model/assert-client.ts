import { readField } from '../errors/read-field.ts'
import { SignalboxError } from '../errors/signalbox-error.ts'
import { describeValue } from '../text/describe-value.ts'

/** Whoever hands in something else is told at once, and not at the first request. */
export function assertClient(client: unknown, maker: string, path: readonly string[]): void {
  const method = path.reduce<unknown>((value, key) => readField(value, key), client)
  if (typeof method === 'function') return
  const came = describeValue(client, 80)
  throw new SignalboxError('invalid_option', `${maker} takes a client with ${path.join('.')}(), but got ${came}.`)
}
