import type { SessionRecord } from '../../src/journal/records.ts'

const go = { type: 'user', uuid: 'u', timestamp: '', message: { role: 'user', content: 'go' } } as const

/** A log that has the beginning of a reply. */
export const openedReply = (...rest: readonly SessionRecord[]): SessionRecord[] => [
  { t: 'message.sent', message: { ...go } },
  { t: 'reply.started', reply: 'r1', took: ['u'] },
  ...rest,
]

/** A block of that reply: a call, or a text. */
export const blockRecord = (id: string, name: string, text?: string): SessionRecord => ({
  t: 'reply.block',
  reply: 'r1',
  message: {
    type: 'assistant',
    uuid: `block ${id}`,
    message: {
      id: 'r1',
      role: 'assistant',
      content: [text === undefined ? { type: 'tool_use', id, name, input: {} } : { type: 'text', text }],
    },
  },
})

export const startedRecord = (call: string): SessionRecord => ({ t: 'call.started', reply: 'r1', call, input: {} })

export const stoppedRecord: Extract<SessionRecord, { t: 'reply.stopped' }> = {
  t: 'reply.stopped',
  reply: 'r1',
  isWhole: true,
  stopReason: 'tool_use',
  reports: [],
}
