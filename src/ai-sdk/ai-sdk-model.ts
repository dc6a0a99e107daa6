import { SignalboxError } from '../errors/signalbox-error.ts'
import { systemText } from '../model/api-content.ts'
import { eventStream } from '../model/event-stream.ts'
import type { Model } from '../model/model.ts'
import { asList } from '../model/read-event.ts'
import type { ToolSchema } from '../tool/tool-schemas.ts'
import { streamPartTranslator } from './from-stream-parts.ts'
import { type SpecificationVersion, toPrompt } from './to-prompt.ts'

/** The part of a language model of the AI SDK that is needed. */
export interface LanguageModelLike<CallOptions> {
  readonly specificationVersion: string
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
  return ({ messages, tools, system, signal }) => {
    const allTools = [...asList(own.tools), ...tools.map(functionTool)]
    const callOptions = {
      ...own,
      prompt: toPrompt(messages, systemText(system), version as SpecificationVersion),
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

const functionTool = ({ name, description, input_schema }: ToolSchema) => ({
  type: 'function',
  name,
  ...(description !== undefined && { description }),
  inputSchema: input_schema,
})
