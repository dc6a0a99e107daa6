import { cleanIds } from '../../../src/messages/clean-ids.ts'
import { toPrompt } from '../../../src/models/ai-sdk/to-prompt.ts'
import { anthropicMessages } from '../../../src/models/anthropic/anthropic-request.ts'
import type { ModelRequest } from '../../../src/models/model.ts'
import { toChatMessages } from '../../../src/models/openai/to-chat-messages.ts'
import { toResponsesInput } from '../../../src/models/openai/to-responses-input.ts'
import { chatIds, responsesIds } from '../../../src/models/service-ids.ts'
import { messageFlaws } from '../validate-anthropic-request.ts'
import { chatFlaws } from './chat-flaws.ts'
import { promptFlaws } from './prompt-flaws.ts'
import { responsesFlaws } from './responses-flaws.ts'

/** What a query asks its model, in the form of each of the four services. */
export function requestFlaws({ messages, tools }: Pick<ModelRequest, 'messages' | 'tools'>): string[] {
  const given = { customTools: new Set<string>(), names: new Set(tools.map(({ name }) => name)) }
  const input = toResponsesInput(cleanIds([...messages], responsesIds), { ...given, isStateless: true })
  const short = cleanIds([...messages], chatIds)
  const named = (service: string, found: readonly string[]): string[] => found.map((flaw) => `${service}: ${flaw}`)
  return [
    ...named('Messages', messageFlaws(anthropicMessages(messages))),
    ...named('Chat', chatFlaws({ model: 'm', messages: toChatMessages(short, undefined, given) })),
    ...named('Responses', responsesFlaws({ model: 'm', store: false, input })),
    ...named('AI SDK', promptFlaws({ prompt: toPrompt(messages, undefined, { ...given, version: 'v4' }) }, 'v4')),
  ]
}
