import { foldJournal, type JournalRecord, openSession } from 'signalbox/durable'
import { scriptedModel } from 'signalbox/scripted'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AnyTool, allowAllTools, defineTool, type Model, type SessionOptions } from '../../src/index.ts'
import { checkTranscript } from '../../src/transcripts/index.ts'
import { cutJournals } from '../support/cut-journals.ts'

/** Calls for ever. */
const model: Model = (request) => {
  const n = request.messages.length
  const usage = { input_tokens: 10, output_tokens: 5 }
  return scriptedModel([
    [
      { call: 'Act', input: { n }, id: `c${n}` },
      { stop: 'tool_use', usage },
    ],
  ])(request)
}

async function play(limits: SessionOptions['limits'], before: readonly JournalRecord[]) {
  const store = cutJournals(before)
  const starts: string[] = []
  const act = defineTool({
    name: 'Act',
    inputSchema: z.object({ n: z.number() }),
    call: async (_input, { toolUseID }) => {
      starts.push(toolUseID)
      return { data: 'acted' }
    },
  }) as AnyTool
  const session = await openSession({
    id: 's',
    journals: store,
    tools: [act],
    model,
    limits,
    canUseTool: allowAllTools,
  })
  if (session.status === 'suspended') for await (const _ of session.resume());
  else if (session.transcript.length === 0) for await (const _ of session.send('go'));
  await session.whenIdle()
  const { transcript, usage, result } = session
  const { length } = store.records
  await session.close()
  return { starts, transcript, usage, result, records: store.records.slice(0, length) }
}

describe('a session with limits whose process ends', () => {
  it.each([
    [{ turns: 3 }, 'turns', 3],
    [{ calls: 2 }, 'calls', 2],
  ] as const)('U1 D11 %j hold over a crash after any record, and what was used before it counts', async (limits, limit, most) => {
    const whole = await play(limits, [])
    expect(whole.result).toMatchObject({ reason: 'limit', limit })
    for (let length = 2; length <= whole.records.length; length++) {
      const before = whole.records.slice(0, length)
      const at = `${length} ${before.at(-1)?.t}`
      const { usage, transcript, records, starts } = await play(limits, before)
      expect([at, usage[limit] <= most, checkTranscript(transcript).ok]).toEqual([at, true, true])
      // the log tells the same, so that a third process knows it too
      expect([at, foldJournal(records).usage[limit]]).toEqual([at, usage[limit]])
      expect([at, foldJournal(records).reason]).toEqual([at, 'limit'])
      const begun = before.flatMap(({ t, call }) => (t === 'call.started' ? [String(call)] : []))
      expect([at, starts.filter((id) => begun.includes(id))]).toEqual([at, []])
    }
  })
})
