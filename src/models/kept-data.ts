import { readField } from '../base/read-field.ts'
import { asRecord } from './read-event.ts'

/** The adapter that stored the data. */
export type Keeper = 'anthropic' | 'openai' | 'openai_chat' | 'ai_sdk'

/**
 * Stores data that a service needs back with a block as a `signature`, the field of the Messages API for this purpose. It
 * is JSON under the name of the adapter, so that no adapter reads the data of another.
 */
export function keepData(keeper: Keeper, data: unknown): string | undefined {
  try {
    return JSON.stringify({ [keeper]: data })
  } catch {
    return undefined
  }
}

/** The data that this adapter stored in the block. */
export function keptData(keeper: Keeper, block: unknown): Record<string, unknown> | undefined {
  const signature = readField(block, 'signature')
  if (!isKeptData(signature)) return undefined
  try {
    return asRecord(readField(JSON.parse(signature), keeper))
  } catch {
    return undefined
  }
}

/** Real signatures are base64 and never begin with a brace. */
export const isKeptData = (signature: unknown): signature is string =>
  typeof signature === 'string' && signature.startsWith('{')
