import { openSession } from 'signalbox/durable'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AnyTool, defineTool, type Model } from '../../../src/index.ts'
import { bytesOf } from '../../../src/journal/journal-limits.ts'
import { journalsOn } from '../../../src/node/file-journals/file-journals.ts'
import { callBlock, textBlock } from '../../../src/testing/held-model.ts'
import { SimulatedDisk, simulatedProcess } from './simulated-disk.ts'

const folder = '/journals'

const tools = ['Read', 'Write'].map(
  (name) =>
    defineTool({
      name,
      inputSchema: z.object({}),
      isReadOnly: () => name === 'Read',
      isConcurrencySafe: () => name === 'Read',
      call: async () => ({ data: 'done' }),
    }) as AnyTool,
)

const modelOf = (name: string, calls: number): Model =>
  async function* ({ messages }) {
    const isOver = messages.length > 1
    yield { type: 'message_start', message: { id: `msg_${messages.length}`, model: 'm' } }
    for (let n = 0; !isOver && n < calls; n++) yield* callBlock(n, `c${n}`, name, '{}')
    if (isOver) yield* textBlock(0, 'Done.')
    yield { type: 'message_delta', delta: { stop_reason: isOver ? 'end_turn' : 'tool_use' } }
    yield { type: 'message_stop' }
  }

/** How often the log is synced from `send` to the end of the run. */
async function syncsOf(name: string, calls: number): Promise<number> {
  const disk = new SimulatedDisk()
  const journals = journalsOn(disk, simulatedProcess(new Set()), { folder })
  const context = { permissions: { allow: ['Read', 'Write'] } }
  const session = await openSession({ id: 's', journals, tools, model: modelOf(name, calls), context })
  let syncs = 0
  disk.fault = ({ what }) => {
    if (what === 'sync') syncs++
    return undefined
  }
  for await (const _ of session.send('go'));
  const counted = syncs
  await session.close()
  return counted
}

describe('how often a log is synced', () => {
  it('D8 D4 a call with effects needs one sync: its start goes with the result of the call before', async () => {
    // the message, the end of the turn and the end of the run take the others
    expect((await syncsOf('Write', 20)) - (await syncsOf('Write', 10))).toBe(10)
    expect(await syncsOf('Write', 20)).toBeLessThanOrEqual(20 + 4)
    expect(await syncsOf('Write', 100)).toBeLessThanOrEqual(100 + 4)
  })

  it('D8 D4 a read-only turn of 100 needs as many as one of 10: at most three, and one for the last reply', async () => {
    expect(await syncsOf('Read', 100)).toBeLessThanOrEqual(4)
    expect(await syncsOf('Read', 10)).toBeLessThanOrEqual(4)
  })

  it('D23 the size of a record is counted in bytes of UTF-8', () => {
    for (const text of ['', 'plain', 'ü', '€', '😀', 'a😀€üz', JSON.stringify('\ud800')])
      expect([text, bytesOf(text)]).toEqual([text, new TextEncoder().encode(text).length])
  })
})
