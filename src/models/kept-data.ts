import { readField } from '../base/read-field.ts'
import { asRecord } from './read-event.ts'

/** Whose data it is. */
export type Keeper = 'anthropic' | 'openai' | 'openai_chat' | 'ai_sdk'

/**
 * What a service wants to have back with a block, as a `signature`: the Messages API has that field for just this.
 * It is JSON under the name of the adapter, so that no adapter takes the data of another for its own.
 */
export function keepData(keeper: Keeper, data: unknown): string | undefined {
  try {
    return JSON.stringify({ [keeper]: data })
  } catch {
    return undefined
  }
}

/** What this adapter kept in the block. */
export function keptData(keeper: Keeper, block: unknown): Record<string, unknown> | undefined {
  const signature = readField(block, 'signature')
  if (!isKeptData(signature)) return undefined
  try {
    return asRecord(readField(JSON.parse(signature), keeper))
  } catch {
    return undefined
  }
}

/** Real signatures are base64: none begins with a brace. */
export const isKeptData = (signature: unknown): signature is string =>
  typeof signature === 'string' && signature.startsWith('{')
