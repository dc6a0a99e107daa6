import { type IdRule, messagesIds, mistralIds, shortIds } from '../messages/clean-ids.ts'

/** The longest ids of calls that OpenAI takes. Other services send longer ones. */
export const chatIds = shortIds(40)
export const responsesIds = shortIds(64)

/** By the address of a service, or the name of a model: Mistral's models take ids of one form only. */
export const chatIdsOf = (...names: readonly unknown[]): IdRule => (names.some(isMistral) ? mistralIds : chatIds)

/** By the names that a provider of the AI SDK gives itself and its model. */
export function providerIds(provider: string, model: unknown): IdRule {
  if (isAnthropic(provider)) return messagesIds
  return provider.endsWith('.responses') ? responsesIds : chatIdsOf(provider, model)
}

/** Providers of the Messages API. */
export const isAnthropic = (provider: string): boolean => /anthropic|bedrock/i.test(provider)

const isMistral = (name: unknown): boolean =>
  typeof name === 'string' && /mistral|mixtral|codestral|devstral/i.test(name)
