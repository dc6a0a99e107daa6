import { openSession } from 'signalbox/durable'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AnyTool, allowAllTools, defineTool } from '../../src/index.ts'
import { journalsOn } from '../../src/node/file-journals/file-journals.ts'
import { SimulatedDisk, simulatedProcess } from '../node/file-journals/simulated-disk.ts'
import { lives, replyWith, sayLast, settle, until } from '../support/durable-lives.ts'
import { heldModel } from '../support/held-model.ts'

/** Pays for ever. `schema` is that of one version of the program. */
function payTool(schema: z.ZodObject, started: string[]): AnyTool {
  return defineTool({
    name: 'Pay',
    inputSchema: schema,
    recover: () => 'again',
    call: (_input, { toolUseID }) => {
      started.push(toolUseID)
      return new Promise<never>(() => undefined)
    },
  }) as AnyTool
}

const before = z.object({})
const now = z.object({ account: z.string() })

describe('a session whose tool has another schema now', () => {
  it('D6 D11 an answered call is checked again: it does not run, and its result says why', async () => {
    const started: string[] = []
    const world = lives([payTool(before, started)], { canUseTool: () => ({ behavior: 'later' }) })
    const first = await world.begin()
    first.session.send('pay')
    await replyWith(first, ['p', 'Pay'])
    await until(() => first.session.status === 'suspended')
    const second = await world.begin({ tools: [payTool(now, started)] })
    await second.session.answer(second.session.questions()[0]?.id as string, { behavior: 'allow' })
    second.session.resume()
    await sayLast(second)
    await second.session.whenIdle()
    expect(started).toEqual([])
    expect(JSON.stringify(second.session.transcript)).toContain('account')
    expect(second.session.result?.reason).toBe('completed')
  })

  it('D11 D12 a call that had started is an unknown outcome, even if the tool would run again', async () => {
    const started: string[] = []
    const world = lives([payTool(before, started)], { canUseTool: allowAllTools })
    const first = await world.begin()
    first.session.send('pay')
    await replyWith(first, ['p', 'Pay'])
    await until(() => started.length === 1)
    await settle()
    const second = await world.begin({ tools: [payTool(now, started)] })
    second.session.resume()
    await sayLast(second)
    await second.session.whenIdle()
    expect(started).toEqual(['p'])
    expect(JSON.stringify(second.session.transcript)).toContain('It may or may not have taken effect')
  })
})

describe('a session on a read-only disk', () => {
  it('D19 is a clear error, and nothing is written', async () => {
    const disk = new SimulatedDisk()
    disk.fault = () => 'EROFS'
    const journals = journalsOn(disk, simulatedProcess(new Set()), { folder: '/journals' })
    const opening = openSession({ id: 's', journals, tools: [], model: heldModel().model })
    await expect(opening).rejects.toMatchObject({ code: 'journal_error', message: expect.stringContaining('EROFS') })
    expect(disk.names.size).toBe(0)
  })
})
