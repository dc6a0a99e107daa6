import { cleanIds } from '../../messages/clean-ids.ts'
import type { ToolSchema } from '../../tool/tool-schemas.ts'
import { systemText } from '../api-content.ts'
import { eventStream } from '../event-stream.ts'
import { assertClient, type Model, withInfo } from '../model.ts'
import { asList } from '../read-event.ts'
import { responsesIds } from '../service-ids.ts'
import { customToolNames, hasServiceTools, notCustom, toolNames } from './custom-tools.ts'
import { responsesTranslator } from './from-responses-events.ts'
import { toResponsesInput } from './to-responses-input.ts'

/** The members of `openai` that the adapter uses. */
export interface ResponsesClient<Params> {
  readonly responses: {
    create(body: Params, options?: { signal?: AbortSignal | null | undefined }): PromiseLike<unknown>
  }
}

/** All parameters of the Responses API. Input and tools come from the request; `tools` given here come before them. */
export type ResponsesModelOptions<Params> = Omit<Params, 'input' | 'stream'>

/**
 * A model of OpenAI's Responses API, using your client.
 *
 * @example
 * const model = openaiResponsesModel(new OpenAI(), { model: 'gpt-5.2', store: false })
 */
export function openaiResponsesModel<Params>(
  client: ResponsesClient<Params>,
  options: ResponsesModelOptions<Params>,
): Model {
  assertClient(client, 'openaiResponsesModel', ['responses', 'create'])
  const own = options as Record<string, unknown>
  const customTools = customToolNames(own.tools)
  const model: Model = ({ messages, tools, system, signal }) => {
    const instructions = systemText(system)
    const allTools = [...asList(own.tools), ...notCustom(tools, customTools).map(functionTool)]
    const body = {
      ...own,
      ...(instructions !== undefined && { instructions }),
      ...(allTools.length > 0 && { tools: allTools }),
      input: toResponsesInput(cleanIds([...messages], responsesIds), {
        customTools,
        names: toolNames(own.tools, tools),
        isStateless: own.store === false,
      }),
      stream: true,
    }
    return eventStream({
      open: (stopped) => client.responses.create(body as Params, { signal: stopped }),
      translate: (writer) => responsesTranslator(writer, { tools, hasServiceTools: hasServiceTools(own.tools) }),
      signal,
    })
  }
  return withInfo(model, own.model, own.max_output_tokens)
}

/** Not strict, because a strict schema may not have optional fields. */
const functionTool = ({ name, description, input_schema }: ToolSchema) => ({
  type: 'function',
  name,
  ...(description !== undefined && { description }),
  parameters: input_schema,
  strict: false,
})
