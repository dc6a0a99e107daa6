import { newSessionState, type SessionState, stateAfter, stateAfterBodies } from 'signalbox/durable'
import { describe, expect, it } from 'vitest'

const types = [
  ...['session.created', 'session.opened', 'message.sent', 'reply.started', 'reply.block', 'reply.stopped'],
  ...['permission.asked', 'permission.answered', 'call.started', 'call.completed', 'turn.committed'],
  ...['attempt.discarded', 'background.started', 'background.finished', 'background.delivered', 'usage.spent'],
  ...['run.suspended', 'run.ended'],
]
const asked: SessionState = { status: 'running', questions: new Map([['q', 'r c']]) }

describe('the state of a session beside its log', () => {
  it('D1 is that of the records, also where the store does not read them', () => {
    for (const from of [newSessionState, asked]) {
      for (const t of types) {
        const record = { t, reply: 'r', call: 'c', question: 'q', open: {} }
        expect([t, stateAfterBodies(from, [JSON.stringify(record)])]).toEqual([t, stateAfter(from, record)])
      }
    }
  })

  it('D1 depends on the type of a record, not on the order of its fields', () => {
    expect(
      stateAfterBodies(newSessionState, ['{"input":"{\\"t\\":\\"call.started\\"}","t":"message.sent"}']).status,
    ).toBe('running')
  })
})
