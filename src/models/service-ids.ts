import { type IdRule, messagesIds, mistralIds, shortIds } from '../messages/clean-ids.ts'
import { defaultIdsAndTime } from '../messages/ids-and-time.ts'
import type { ModelRequest } from './model.ts'
import { asText } from './read-event.ts'

/** The maximum length of call ids at OpenAI. Other services send longer ids. */
export const chatIds = shortIds(40)
export const responsesIds = shortIds(64)

/** Chooses by the address of a service or the name of a model: Mistral's models accept only one form of ids. */
export const chatIdsOf = (...names: readonly unknown[]): IdRule => (names.some(isMistral) ? mistralIds : chatIds)

/** Chooses by the names of an AI SDK provider and its model. */
export function providerIds(provider: string, model: unknown): IdRule {
  if (isAnthropic(provider)) return messagesIds
  return provider.endsWith('.responses') ? responsesIds : chatIdsOf(provider, model)
}

/** Providers of the Messages API. */
export const isAnthropic = (provider: string): boolean => /anthropic|bedrock/i.test(provider)

const isMistral = (name: unknown): boolean =>
  typeof name === 'string' && /mistral|mixtral|codestral|devstral/i.test(name)

const maxChars = 64

/**
 * A call's name in a form that services accept. Models invent names such as `functions.Read`, and a service would then
 * reject every later request. Names of `known` tools stay unchanged.
 */
export function sentName(name: unknown, known: ReadonlySet<string>): string {
  if (typeof name !== 'string' || name === '') return 'unknown_tool'
  return known.has(name) ? name : name.replace(/[^\w-]/g, '_').slice(0, maxChars)
}

/** Some services reuse ids, and two replies with the same id would be merged, so a random part is added. */
export function replyId(given: unknown): string | undefined {
  const id = asText(given)
  return id === undefined ? undefined : `${id}_${defaultIdsAndTime.uuid().slice(0, 8)}`
}

/** The id of the container in which the service ran code, unless the container has expired, because the service would reject it. */
export function liveContainer(container: ModelRequest['container'], now: number = Date.now()): string | undefined {
  const expiry = Date.parse(asText(container?.expires_at) ?? '')
  return expiry <= now ? undefined : asText(container?.id)
}
