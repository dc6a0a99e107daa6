import type { Model } from 'signalbox'
import { anthropicModel } from 'signalbox/anthropic'
import type { Io } from '../io.ts'
import { loadOptional } from '../load-optional.ts'
import { usageError } from '../usage-error.ts'

export const defaultModel = 'claude-opus-5-5'
const sdkName = '@anthropic-ai/sdk'

type Client = Parameters<typeof anthropicModel<Record<string, unknown>>>[0]
type Sdk = { default: new (options: { maxRetries: number }) => Client }

/** An Anthropic model, through the client that the user has installed. */
export async function loadModel(name: string, maxTokens: number, io: Io): Promise<Model> {
  if (!io.env.ANTHROPIC_API_KEY && !io.env.ANTHROPIC_AUTH_TOKEN) {
    throw usageError(
      'Missing API key. Run: export ANTHROPIC_API_KEY=… Without a key, use signalbox run --script turns.json to play a script, or signalbox demo.',
    )
  }
  const { default: Anthropic } = await loadOptional<Sdk>(
    sdkName,
    `Missing the Anthropic client. Run: npm install ${sdkName} (or npx -p @signalbox/cli -p ${sdkName} signalbox run …).`,
  )
  // the query retries, because it knows which calls had run
  return anthropicModel(new Anthropic({ maxRetries: 0 }), { model: name, max_tokens: maxTokens })
}
