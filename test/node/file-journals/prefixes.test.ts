import fc from 'fast-check'
import { foldJournal, type JournalRecord, type JournalStore, openSession } from 'signalbox/durable'
import { scriptedModel } from 'signalbox/scripted'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { sha256 } from '../../../src/base/sha256.ts'
import { type AnyTool, defineTool, type Model, type PermissionAnswer, type Session } from '../../../src/index.ts'
import { journalsOn } from '../../../src/node/file-journals/file-journals.ts'
import { checkTranscript } from '../../../src/transcripts/index.ts'
import { SimulatedDisk, simulatedProcess } from './simulated-disk.ts'

const folder = '/journals'
const path = `${folder}/${sha256('s')}.jsonl`
const isFull = process.env.SIGNALBOX_FULL !== undefined || process.env.SIGNALBOX_LOGS !== undefined
const logs = Number(process.env.SIGNALBOX_LOGS ?? (process.env.SIGNALBOX_FULL === undefined ? 2 : 1_000))

const storeOn = (disk: SimulatedDisk): JournalStore => journalsOn(disk, simulatedProcess(new Set()), { folder })

type Plan = readonly (readonly string[])[]

/** Replies: names of tools. 930 plans. */
const plans: fc.Arbitrary<Plan> = fc.array(
  fc.array(fc.constantFrom('Write', 'Read', 'Ask', 'Refused', 'Fails'), { minLength: 1, maxLength: 2 }),
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

// once: Zod compiles a schema when it is first used
const inputSchema = z.object({})

function toolsFor(started: string[]): AnyTool[] {
  const tool = (name: string, isReadOnly: boolean): AnyTool =>
    defineTool({
      name,
      inputSchema,
      isReadOnly: () => isReadOnly,
      isConcurrencySafe: () => isReadOnly,
      call: async (_input, { toolUseID }) => {
        started.push(toolUseID)
        if (name === 'Fails') throw new Error(`failed ${toolUseID}`)
        return { data: `did ${toolUseID}` }
      },
    })
  return [tool('Write', false), tool('Read', true), tool('Ask', false), tool('Refused', false), tool('Fails', false)]
}

async function open(disk: SimulatedDisk, plan: Plan, started: string[]): Promise<Session> {
  const session = await openSession({
    id: 's',
    journals: storeOn(disk),
    tools: toolsFor(started),
    model: modelOf(plan),
    context: { permissions: { allow: ['Write', 'Read', 'Fails'] } },
    canUseTool: () => ({ behavior: 'later' }),
  })
  session.on('question_opened', (question) => void session.answer(question.id, answerTo(question)))
  return session
}

const answerTo = ({ toolName }: { toolName: string }): PermissionAnswer =>
  toolName === 'Refused' ? { behavior: 'deny', message: 'no' } : { behavior: 'allow' }

/** Until nothing is left to do. */
async function finish(session: Session): Promise<void> {
  for (let round = 0; round < 20 && session.status !== 'idle'; round++) {
    for (const question of session.questions()) await session.answer(question.id, answerTo(question))
    for await (const _ of session.resume());
    await session.whenIdle()
  }
}

/** The end of each record, with three bytes inside the record behind it. */
function* cutsOf(whole: Uint8Array): Generator<{ at: number; inside: number[] }> {
  let from = 0
  for (let end = whole.indexOf(10); end >= 0; end = whole.indexOf(10, from)) {
    yield { at: from, inside: [from + 1, from + Math.floor((end - from) / 2), end] }
    from = end + 1
  }
  yield { at: from, inside: [] }
}

function diskWith(data: Uint8Array): SimulatedDisk {
  const disk = new SimulatedDisk()
  disk.folders.add(folder)
  disk.names.set(path, { now: data, synced: data })
  return disk
}

/** A torn tail leaves the records before it, and they are all that a session is made of. */
async function opensAs(data: Uint8Array, expected: readonly JournalRecord[]): Promise<void> {
  const journal = await storeOn(diskWith(data)).open('s', { owner: 'cut', mode: 'either' })
  const before = journal.records.slice(0, expected.length)
  expect(JSON.stringify(before)).toBe(JSON.stringify(expected))
  expect(journal.records.length - expected.length).toBe(expected.length === 0 ? 2 : 1)
  await journal.close()
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
      for (const { at, inside } of cutsOf(whole)) {
        cuts += 1 + inside.length
        const before = await recordsIn(diskWith(whole.slice(0, at))).catch(() => [])
        for (const byte of inside) await opensAs(whole.slice(0, byte), before)
        // one of the four goes on to the end
        const cut = [at, ...inside][cuts % (1 + inside.length)] as number
        const after = diskWith(whole.slice(0, cut))
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
    await fc.assert(property, { numRuns: logs, endOnFailure: true, ...(isFull ? {} : { seed: 1 }) })
    if (process.env.SIGNALBOX_LOGS !== undefined) console.log(`${logs} logs, ${cuts} cuts`)
    expect(cuts).toBeGreaterThan(logs * 20)
  })
})
