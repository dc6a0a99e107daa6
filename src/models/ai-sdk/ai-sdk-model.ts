import { SignalboxError } from '../../base/signalbox-error.ts'
import { cleanIds } from '../../messages/clean-ids.ts'
import type { ToolSchema } from '../../tool/tool-schemas.ts'
import { eventStream } from '../event-stream.ts'
import type { Model } from '../model.ts'
import { asList, asRecord, asText } from '../read-event.ts'
import { anthropicOptions } from './anthropic-options.ts'
import { streamPartTranslator } from './from-stream-parts.ts'
import { withoutOpenParts } from './open-parts.ts'
import type { SpecificationVersion } from './result-output.ts'
import { toPrompt } from './to-prompt.ts'

/** The part of a language model of the AI SDK that is needed. */
export interface LanguageModelLike<CallOptions> {
  readonly specificationVersion: string
  readonly provider?: string
  doStream(options: CallOptions): PromiseLike<{ readonly stream: ReadableStream<unknown> }>
}

/** Everything that the language model takes; prompt and tools come from the request, `tools` here go before them. */
export type AiSdkModelOptions<CallOptions> = Omit<CallOptions, 'prompt' | 'abortSignal'>

const versions = new Set(['v2', 'v3', 'v4'])

/**
 * A model by any provider of the AI SDK, versions 2 to 4 of its interface.
 *
 * @example
 * const model = aiSdkModel(google('gemini-3-pro'), { maxOutputTokens: 8_192 })
 */
export function aiSdkModel<CallOptions>(
  languageModel: LanguageModelLike<CallOptions>,
  options: AiSdkModelOptions<CallOptions> = {} as AiSdkModelOptions<CallOptions>,
): Model {
  const version = languageModel.specificationVersion
  if (!versions.has(version)) {
    const came =
      typeof languageModel === 'string' ? `the name of one; give openai('…') of its provider` : `of ${version}`
    throw new SignalboxError('invalid_option', `aiSdkModel takes language models of v2, v3 or v4, not ${came}.`)
  }
  const own = options as Record<string, unknown>
  const ownTools = asList(own.tools).map(asRecord)
  const ownNames = new Set(ownTools.flatMap((tool) => asText(tool?.name) ?? []))
  const customTools = new Set(ownTools.flatMap((tool) => (isCustom(tool) ? (asText(tool?.name) ?? []) : [])))
  const isAnthropic = anthropicNames.test(languageModel.provider ?? '')
  const isStored = /\.responses$/.test(languageModel.provider ?? '') && !isStateless(own.providerOptions)
  return ({ messages, tools, system, container, signal }) => {
    // a tool that the options describe in the provider's own form needs no other description
    const allTools = [...asList(own.tools), ...tools.filter(({ name }) => !ownNames.has(name)).map(functionTool)]
    const names = new Set([...ownNames, ...tools.map(({ name }) => name)])
    const given = isAnthropic ? cleanIds(withoutOpenParts(messages)) : messages
    const callOptions = {
      ...own,
      prompt: toPrompt(given, system, {
        version: version as SpecificationVersion,
        customTools,
        names,
        isStored,
      }),
      ...(isAnthropic && { providerOptions: anthropicOptions(own.providerOptions, container) }),
      ...(allTools.length > 0 && { tools: allTools }),
    }
    return eventStream({
      open: async (stopped) =>
        (await languageModel.doStream({ ...callOptions, abortSignal: stopped } as CallOptions)).stream,
      translate: (writer) => streamPartTranslator(writer, tools),
      signal,
    })
  }
}

/** Providers of the Messages API, which refuses ids with characters that others have in theirs. */
const anthropicNames = /anthropic|bedrock/i

/** The host told the service to keep nothing. */
const isStateless = (providerOptions: unknown): boolean =>
  Object.values(asRecord(providerOptions) ?? {}).some((fields) => asRecord(fields)?.store === false)

/** A custom tool of OpenAI, which takes text. */
const isCustom = (tool: Record<string, unknown> | undefined): boolean => asText(tool?.id)?.endsWith('.custom') === true

const functionTool = ({ name, description, input_schema }: ToolSchema) => ({
  type: 'function',
  name,
  ...(description !== undefined && { description }),
  inputSchema: input_schema,
})
