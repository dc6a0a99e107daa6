import { eventStream } from '../event-stream.ts'
import { assertClient, type Model, type ModelRequest, withInfo } from '../model.ts'
import { asList, asRecord, asText } from '../read-event.ts'
import { liveContainer } from '../service-ids.ts'
import { anthropicTranslator } from './anthropic-events.ts'
import { anthropicMessages } from './anthropic-request.ts'
import { withSignsOfLife } from './signs-of-life.ts'

/** The members of `@anthropic-ai/sdk` that the adapter uses. `client.beta` works too. */
export interface AnthropicClient<Params> {
  readonly messages: {
    create(params: Params, options?: { signal?: AbortSignal | null | undefined }): PromiseLike<unknown>
  }
}

/** All parameters of the Messages API. Messages and tools come from the request; `tools` given here come before them. */
export type AnthropicModelOptions<Params> = Omit<Params, 'messages' | 'stream'>

/**
 * A model of the Messages API, using your client.
 *
 * @example
 * const model = anthropicModel(new Anthropic(), { model: 'claude-opus-5-5', max_tokens: 8_192 })
 */
export function anthropicModel<Params>(client: AnthropicClient<Params>, options: AnthropicModelOptions<Params>): Model {
  assertClient(client, 'anthropicModel', ['messages', 'create'])
  const own = options as Record<string, unknown>
  const model: Model = ({ messages, tools, system, container, signal }) => {
    const allTools = [...asList(own.tools), ...tools]
    const params: Record<string, unknown> = Object.assign({}, own, containerParam(own.container, container), {
      messages: anthropicMessages(messages, { takesFallbacks: takesFallbacks(own) }),
      stream: true,
    })
    if (system !== undefined && system.length > 0) params.system = system
    if (allTools.length > 0) params.tools = allTools
    return eventStream({
      open: (stopped) => withSignsOfLife(client.messages.create(params as Params, { signal: stopped })),
      translate: anthropicTranslator,
      signal,
    })
  }
  return withInfo(model, own.model, own.max_tokens)
}

/** The service reads `fallback` blocks only in a request that has fallbacks, or their beta. */
const takesFallbacks = ({ fallbacks, betas }: Record<string, unknown>): boolean =>
  (fallbacks !== undefined && fallbacks !== null) ||
  asList(betas).some((beta) => asText(beta)?.startsWith('server-side-fallback') === true)

/** Code that waits for the results of its calls waits in its container; a host may have named one, or skills for it. */
function containerParam(own: unknown, last: ModelRequest['container']): { container?: unknown } {
  const id = liveContainer(last)
  if (id === undefined || asText(own) !== undefined || asText(asRecord(own)?.id) !== undefined) return {}
  return { container: asRecord(own) === undefined ? id : { ...asRecord(own), id } }
}
