import { readField } from '../../base/read-field.ts'
import { cleanIds } from '../../messages/clean-ids.ts'
import type { ToolSchema } from '../../tool/tool-schemas.ts'
import { systemText } from '../api-content.ts'
import { eventStream } from '../event-stream.ts'
import { assertClient, type Model, withInfo } from '../model.ts'
import { asList } from '../read-event.ts'
import { chatIdsOf } from '../service-ids.ts'
import { customToolNames, notCustom, toolNames } from './custom-tools.ts'
import { chatTranslator } from './from-chat-chunks.ts'
import { toChatMessages } from './to-chat-messages.ts'

/** The members of `openai` that the adapter uses. */
export interface ChatClient<Params> {
  readonly chat: {
    readonly completions: {
      create(body: Params, options?: { signal?: AbortSignal | null | undefined }): PromiseLike<unknown>
    }
  }
}

/** All parameters of Chat Completions. Messages and tools come from the request; `tools` given here come before them. */
export type ChatModelOptions<Params> = Omit<Params, 'messages' | 'stream'>

/**
 * A model of Chat Completions, at OpenAI or at any compatible service. Requests usage unless `stream_options` says
 * otherwise.
 *
 * @example
 * const model = openaiChatModel(new OpenAI({ baseURL: 'http://localhost:11434/v1' }), { model: 'qwen3' })
 */
export function openaiChatModel<Params>(client: ChatClient<Params>, options: ChatModelOptions<Params>): Model {
  assertClient(client, 'openaiChatModel', ['chat', 'completions', 'create'])
  const own = options as Record<string, unknown>
  const customTools = customToolNames(own.tools)
  const ids = chatIdsOf(readField(client, 'baseURL'), own.model)
  const model: Model = ({ messages, tools, system, signal }) => {
    const allTools = [...asList(own.tools), ...notCustom(tools, customTools).map(functionTool)]
    const body = {
      stream_options: { include_usage: true },
      ...own,
      ...(allTools.length > 0 && { tools: allTools }),
      messages: toChatMessages(cleanIds([...messages], ids), systemText(system), {
        customTools,
        names: toolNames(own.tools, tools),
      }),
      stream: true,
    }
    return eventStream({
      open: (stopped) => client.chat.completions.create(body as Params, { signal: stopped }),
      translate: (writer) => chatTranslator(writer, tools),
      signal,
    })
  }
  return withInfo(model, own.model, own.max_completion_tokens ?? own.max_tokens)
}

const functionTool = ({ name, description, input_schema }: ToolSchema) => ({
  type: 'function',
  function: { name, ...(description !== undefined && { description }), parameters: input_schema },
})
