import fc from 'fast-check'
import { foldJournal, type JournalRecord, type JournalStore, openSession } from 'signalbox/durable'
import { scriptedModel } from 'signalbox/scripted'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { sha256 } from '../../../src/base/sha256.ts'
import { type AnyTool, defineTool, type Model, type Session } from '../../../src/index.ts'
import { journalsOn } from '../../../src/node/file-journals/file-journals.ts'
import { checkTranscript } from '../../../src/transcripts/index.ts'
import { SimulatedDisk, simulatedProcess } from './simulated-disk.ts'

const folder = '/journals'
const path = `${folder}/${sha256('s')}.jsonl`
const logs = Number(process.env.SIGNALBOX_LOGS ?? (process.env.SIGNALBOX_FULL === undefined ? 2 : 1_000))

const storeOn = (disk: SimulatedDisk): JournalStore => journalsOn(disk, simulatedProcess(new Set()), { folder })

type Plan = readonly (readonly string[])[]

/** Replies: names of tools. */
const plans: fc.Arbitrary<Plan> = fc.array(
  fc.array(fc.constantFrom('Write', 'Read', 'Ask'), { minLength: 1, maxLength: 2 }),
  { minLength: 1, maxLength: 2 },
)

/** Says what is next from the conversation alone. */
const modelOf =
  (plan: Plan): Model =>
  (request) => {
    const reply = request.messages.filter(({ role }) => role === 'assistant').length
    const calls = plan[reply]?.map((call, at) => ({ call, input: {}, id: `c${reply}${at}` }))
    return scriptedModel([calls ?? 'Done.'])(request)
  }

function toolsFor(started: string[]): AnyTool[] {
  const tool = (name: string, isReadOnly: boolean): AnyTool =>
    defineTool({
      name,
      inputSchema: z.object({}),
      isReadOnly: () => isReadOnly,
      isConcurrencySafe: () => isReadOnly,
      call: async (_input, { toolUseID }) => {
        started.push(toolUseID)
        return { data: `did ${toolUseID}` }
      },
    })
  return [tool('Write', false), tool('Read', true), tool('Ask', false)]
}

async function open(disk: SimulatedDisk, plan: Plan, started: string[]): Promise<Session> {
  const session = await openSession({
    id: 's',
    journals: storeOn(disk),
    tools: toolsFor(started),
    model: modelOf(plan),
    context: { permissions: { allow: ['Write', 'Read'] } },
    canUseTool: () => ({ behavior: 'later' }),
  })
  session.on('question_opened', ({ id }) => void session.answer(id, { behavior: 'allow' }))
  return session
}

/** Until nothing is left to do. */
async function finish(session: Session): Promise<void> {
  for (let round = 0; round < 20 && session.status !== 'idle'; round++) {
    for (const { id } of session.questions()) await session.answer(id, { behavior: 'allow' })
    for await (const _ of session.resume());
    await session.whenIdle()
  }
}

/** At each record, and three bytes inside it. */
function* cutsOf(whole: Uint8Array): Generator<number> {
  let from = 0
  for (const [at, byte] of whole.entries()) {
    if (byte !== 10) continue
    yield* new Set([from + 1, from + Math.floor((at - from) / 2), at, at + 1])
    from = at + 1
  }
}

async function recordsIn(disk: SimulatedDisk): Promise<JournalRecord[]> {
  const records: JournalRecord[] = []
  for await (const record of storeOn(disk).read('s')) records.push(record)
  return records
}

describe('sessions cut off at any byte of their logs', () => {
  it('D9 D11 every prefix resumes: no effect begins twice, no result changes, and the log folds to the transcript', async () => {
    let cuts = 0
    const property = fc.asyncProperty(plans, async (plan) => {
      const disk = new SimulatedDisk()
      const session = await open(disk, plan, [])
      for await (const _ of session.send('go'));
      await finish(session)
      await session.close()
      const whole = (await disk.read(path)) as Uint8Array
      for (const cut of cutsOf(whole)) {
        cuts++
        const after = new SimulatedDisk()
        after.folders.add(folder)
        after.names.set(path, { now: whole.slice(0, cut), synced: whole.slice(0, cut) })
        const before = await recordsIn(after).catch(() => [])
        const started: string[] = []
        const resumed = await open(after, plan, started)
        if (resumed.transcript.length === 0 && resumed.status === 'idle') for await (const _ of resumed.send('go'));
        await finish(resumed)
        const { transcript, status } = resumed
        await resumed.close()
        const where = `cut at ${cut} of ${whole.length}`
        expect(status, where).toBe('idle')
        expect(checkTranscript(transcript).ok, where).toBe(true)
        const all = await recordsIn(after)
        expect(JSON.stringify(foldJournal(all).transcript), where).toBe(JSON.stringify(transcript))
        const hadBegun = before.flatMap(({ t, call }) => (t === 'call.started' ? String(call) : []))
        expect(
          started.filter((id) => hadBegun.includes(id)),
          where,
        ).toEqual([])
        const discarded = new Set(all.flatMap(({ t, reply }) => (t === 'attempt.discarded' ? reply : [])))
        const text = JSON.stringify(transcript)
        for (const { t, reply, messages } of before)
          if (t === 'call.completed' && !discarded.has(reply))
            for (const message of messages as unknown[]) expect(text, where).toContain(JSON.stringify(message))
      }
    })
    await fc.assert(property, { numRuns: logs, endOnFailure: true })
    if (process.env.SIGNALBOX_LOGS !== undefined) console.log(`${logs} logs, ${cuts} cuts`)
    expect(cuts).toBeGreaterThan(logs * 20)
  })
})
