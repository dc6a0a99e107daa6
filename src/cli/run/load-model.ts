import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { anthropicModel } from '../../anthropic/index.ts'
import type { Model } from '../../index.ts'
import type { Io } from '../io.ts'
import { usageError } from '../usage-error.ts'

export const defaultModel = 'claude-opus-5-5'
const sdkName = '@anthropic-ai/sdk'

type Client = Parameters<typeof anthropicModel<Record<string, unknown>>>[0]
type Sdk = { default: new (options: { maxRetries: number }) => Client }

/** A model of Anthropic's, by the client that the user has installed. */
export async function loadModel(name: string, maxTokens: number, io: Io): Promise<Model> {
  if (!io.env.ANTHROPIC_API_KEY && !io.env.ANTHROPIC_AUTH_TOKEN) {
    throw usageError(
      'A real model needs a key: export ANTHROPIC_API_KEY=… first. Without one, signalbox run --script turns.json plays a script, and signalbox demo shows how that looks.',
    )
  }
  const { default: Anthropic } = await loadSdk()
  // the query retries, which knows what had already run
  return anthropicModel(new Anthropic({ maxRetries: 0 }), { model: name, max_tokens: maxTokens })
}

/** Beside this package, or in the project one stands in. */
async function loadSdk(): Promise<Sdk> {
  try {
    return (await import(sdkName)) as Sdk
  } catch (error) {
    try {
      const path = createRequire(join(process.cwd(), 'package.json')).resolve(sdkName)
      return (await import(pathToFileURL(path).href)) as Sdk
    } catch {
      throw usageError(
        `A real model needs Anthropic's client: npm install ${sdkName} (or npx -p signalbox -p ${sdkName} signalbox run …).`,
        error,
      )
    }
  }
}
