import { type ApiMessage, type Message, toApiMessages } from '../../src/index.ts'

export { heldQuery as testQuery } from '../../src/testing/held-query.ts'

/** The transcript in short: `user: go`, `assistant: call a Read`, `user: result a ok`. */
export const inShort = (messages: readonly Message[]): string[] => apiInShort(toApiMessages(messages))

export const apiInShort = (messages: readonly ApiMessage[]): string[] =>
  messages.flatMap(({ role, content }) =>
    (typeof content === 'string' ? [{ type: 'text', text: content }] : content).map((block) => {
      const it = block as Record<string, unknown>
      if (it.type === 'text') return `${role}: ${it.text}`
      if (it.type === 'tool_use') return `${role}: call ${it.id} ${it.name} ${JSON.stringify(it.input)}`
      if (it.type === 'tool_result')
        return `${role}: result ${it.tool_use_id} ${it.is_error === true ? 'error' : it.content}`
      return `${role}: ${it.type}`
    }),
  )
