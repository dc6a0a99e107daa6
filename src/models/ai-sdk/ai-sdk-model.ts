import { describeValue } from '../../base/describe-value.ts'
import { SignalboxError } from '../../base/signalbox-error.ts'
import { cleanIds } from '../../messages/clean-ids.ts'
import type { ToolSchema } from '../../tool/tool-schemas.ts'
import { eventStream } from '../event-stream.ts'
import { type Model, withInfo } from '../model.ts'
import { asList, asRecord, asText } from '../read-event.ts'
import { isAnthropic, providerIds } from '../service-ids.ts'
import { anthropicOptions } from './anthropic-options.ts'
import { streamPartTranslator } from './from-stream-parts.ts'
import { withoutOpenParts } from './open-parts.ts'
import type { SpecificationVersion } from './result-output.ts'
import { toPrompt } from './to-prompt.ts'

/** The members of an AI SDK language model that the adapter uses. */
export interface LanguageModelLike<CallOptions> {
  readonly specificationVersion: string
  readonly provider?: string
  readonly modelId?: string
  doStream(options: CallOptions): PromiseLike<{ readonly stream: ReadableStream<unknown> }>
}

/** All call options of the language model. Prompt and tools come from the request; `tools` given here come before them. */
export type AiSdkModelOptions<CallOptions> = Omit<CallOptions, 'prompt' | 'abortSignal'>

const versions = new Set(['v2', 'v3', 'v4'])

/**
 * A model from any AI SDK provider, with version 2 to 4 of the SDK's interface.
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
    const received =
      typeof languageModel === 'string'
        ? `the string ${JSON.stringify(languageModel)}. Pass a model of a provider, such as openai('…')`
        : `specificationVersion ${describeValue(version, 40)}`
    throw new SignalboxError(
      'invalid_option',
      `aiSdkModel: expected a language model with specificationVersion v2, v3 or v4, received ${received}.`,
    )
  }
  const own = options as Record<string, unknown>
  const ownTools = asList(own.tools).map(asRecord)
  const ownNames = new Set(ownTools.flatMap((tool) => asText(tool?.name) ?? []))
  const customTools = new Set(ownTools.flatMap((tool) => (isCustom(tool) ? (asText(tool?.name) ?? []) : [])))
  const { provider = '', modelId } = languageModel
  const isClaude = isAnthropic(provider)
  const isStored = provider.endsWith('.responses') && !isStateless(own.providerOptions)
  const ids = providerIds(provider, modelId)
  const model: Model = ({ messages, tools, system, container, signal }) => {
    // a tool that the options describe in the provider's own form needs no other description
    const allTools = [...asList(own.tools), ...tools.filter(({ name }) => !ownNames.has(name)).map(functionTool)]
    const names = new Set([...ownNames, ...tools.map(({ name }) => name)])
    const given = cleanIds(isClaude ? withoutOpenParts(messages) : [...messages], ids)
    const callOptions = {
      // the stop reason is read from them: a connection may hang after it
      includeRawChunks: true,
      ...own,
      prompt: toPrompt(given, system, {
        version: version as SpecificationVersion,
        customTools,
        names,
        isStored,
      }),
      ...(isClaude && { providerOptions: anthropicOptions(own.providerOptions, container) }),
      ...(allTools.length > 0 && { tools: allTools }),
    }
    return eventStream({
      open: async (stopped) =>
        (await languageModel.doStream({ ...callOptions, abortSignal: stopped } as CallOptions)).stream,
      translate: (writer) => streamPartTranslator(writer, tools),
      signal,
    })
  }
  return withInfo(model, modelId, own.maxOutputTokens)
}

/** The host told the service not to store anything. */
const isStateless = (providerOptions: unknown): boolean =>
  Object.values(asRecord(providerOptions) ?? {}).some((fields) => asRecord(fields)?.store === false)

/** A custom tool of OpenAI; its input is text. */
const isCustom = (tool: Record<string, unknown> | undefined): boolean => asText(tool?.id)?.endsWith('.custom') === true

const functionTool = ({ name, description, input_schema }: ToolSchema) => ({
  type: 'function',
  name,
  ...(description !== undefined && { description }),
  inputSchema: input_schema,
})
