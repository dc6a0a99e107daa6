import { readFileSync } from 'node:fs'
import { foldJournal, type JournalRecord, type JournalStore, memoryJournals, openSession } from 'signalbox/durable'
import { subAgent } from 'signalbox/sub-agent'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AnyTool, defineTool, type Model, type Session } from '../../src/index.ts'
import { journalsOn } from '../../src/node/file-journals/file-journals.ts'
import { callBlock, textBlock } from '../../src/testing/held-model.ts'
import { checkTranscript } from '../../src/transcripts/index.ts'
import { SimulatedDisk, simulatedProcess } from '../node/file-journals/simulated-disk.ts'
import { said } from '../support/durable-lives.ts'

/** Says what to do from the conversation alone, so that it can go on after any crash. */
const model = (name: string, call: readonly [id: string, tool: string, input: object], done: string): Model =>
  async function* ({ messages }) {
    const hasResult = JSON.stringify(messages).includes('tool_result')
    yield { type: 'message_start', message: { id: `${name}_${hasResult ? 2 : 1}`, model: name } }
    yield* hasResult ? textBlock(0, done) : callBlock(0, call[0], call[1], JSON.stringify(call[2]))
    yield { type: 'message_delta', delta: { stop_reason: hasResult ? 'end_turn' : 'tool_use' } }
    yield { type: 'message_stop' }
  }

function world(effects: string[], isFlat: boolean) {
  const pay = defineTool({
    name: 'Pay',
    inputSchema: z.object({}),
    call: async () => {
      effects.push('paid')
      return { data: 'paid' }
    },
  })
  const agent = (name: string, tools: AnyTool[], inner: Model) => subAgent({ name, tools, model: inner }) as AnyTool
  const deep = agent('Deep', [pay as AnyTool], model('deep', ['p1', 'Pay', {}], 'Deep paid.'))
  const outer = isFlat
    ? agent('Agent', [pay as AnyTool], model('agent', ['p1', 'Pay', {}], 'The agent paid.'))
    : agent('Agent', [deep], model('agent', ['d1', 'Deep', { prompt: 'pay' }], 'The agent paid.'))
  return { tools: [outer], model: model('outer', ['a1', 'Agent', { prompt: 'pay' }], 'All done.') }
}

const open = (journals: JournalStore, effects: string[], isFlat = false): Promise<Session> =>
  openSession({ id: 's', journals, ...world(effects, isFlat), context: { permissions: { allow: ['Agent', 'Deep'] } } })

/** Approves whatever is asked until the run has ended. */
async function finish(session: Session): Promise<void> {
  session.on('question_opened', ({ id }) => void session.answer(id, { behavior: 'allow' }))
  for (let round = 0; round < 20 && session.status !== 'idle'; round++) {
    await session.whenIdle()
    for (const { id } of session.questions()) await session.answer(id, { behavior: 'allow' })
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
  await session.whenIdle()
}

async function logsOf(journals: JournalStore): Promise<Map<string, JournalRecord[]>> {
  const logs = new Map<string, JournalRecord[]>()
  for await (const { id } of journals.list()) {
    const records: JournalRecord[] = []
    for await (const record of journals.read(id)) records.push(record)
    logs.set(id, records)
  }
  return logs
}

/** A store as it was when the record with this time had been written. */
async function storeAt(logs: ReadonlyMap<string, JournalRecord[]>, time: number): Promise<JournalStore> {
  const journals = memoryJournals()
  for (const [id, records] of logs) {
    const [created, opened, ...rest] = records.filter(({ at }) => at <= time)
    if (created === undefined || opened === undefined) continue
    const { n: _n, at: _at, t: _t, v: _v, id: _id, ...fields } = created
    const journal = await journals.open(id, { owner: 'before', mode: 'create', created: fields })
    // answers come from an inbox that this copy does not have
    for (const { n: _, at: __, note: ___, ...record } of rest) journal.append(record as { t: string })
    await journal.flush()
  }
  return journals
}

const folder = '/journals'
const storeOn = (disk: SimulatedDisk): JournalStore => journalsOn(disk, simulatedProcess(new Set()), { folder })

type Files = ReadonlyMap<string, { readonly now: Uint8Array; readonly synced: Uint8Array }>

/** A disk as a crash leaves it: what was written, or after a power failure only what was synced. */
function diskAfter(names: Files, hasPower: boolean): SimulatedDisk {
  const disk = new SimulatedDisk()
  disk.folders.add(folder)
  for (const [path, { now, synced }] of names) {
    const left = hasPower ? now : synced
    disk.names.set(path, { now: left, synced: left })
  }
  disk.syncedNames = new Map(disk.names)
  return disk
}

describe('crashes of a session with agents', () => {
  it('D5 D11 D17 after a crash at any step of the disk, with or without power, nothing is paid twice and no result is invented', async () => {
    const disk = new SimulatedDisk()
    const effects: string[] = []
    const moments: { names: Files; syncedNames: Files; paid: number }[] = []
    const copy = (files: Files): Files => new Map([...files].map(([path, content]) => [path, { ...content }]))
    disk.fault = () => {
      moments.push({ names: copy(disk.names), syncedNames: copy(disk.syncedNames), paid: effects.length })
      return undefined
    }
    const first = await open(storeOn(disk), effects)
    first.send('pay')
    await finish(first)
    await first.close()
    expect(effects).toEqual(['paid'])
    const results = { paid: 0, unknown: 0 }
    const step = process.env.SIGNALBOX_FULL === undefined ? 3 : 1
    for (let at = 0; at < moments.length; at += step) {
      const { names, syncedNames, paid } = moments[at] as (typeof moments)[number]
      for (const hasPower of [true, false]) {
        const where = `step ${at} ${hasPower ? 'killed' : 'without power'}`
        const again: string[] = []
        const left = diskAfter(hasPower ? names : syncedNames, hasPower)
        const session = await open(storeOn(left), again)
        if (session.status === 'idle' && session.transcript.length === 0) session.send('pay')
        else session.resume()
        await finish(session)
        expect([where, session.status, checkTranscript(session.transcript)]).toEqual([where, 'idle', { ok: true }])
        expect([where, paid + again.length <= 1]).toEqual([where, true])
        const logs = [...(await logsOf(storeOn(left))).values()].flat()
        const of = logs.findLast(({ t, call }) => t === 'call.completed' && call === 'p1')
        const isUnknown = JSON.stringify(of).includes('It may or may not')
        results[isUnknown ? 'unknown' : 'paid']++
        // whoever says that it was paid is right
        if (!isUnknown) expect([where, paid + again.length]).toEqual([where, 1])
        for await (const { id, questions } of storeOn(left).list())
          expect([where, id, questions]).toEqual([where, id, []])
        await session.close()
      }
    }
    expect(results.unknown).toBeGreaterThan(0)
    expect(results.paid).toBeGreaterThan(results.unknown)
  })

  it('D17 D11 after a crash at any record of any log, each agent continues where it was', async () => {
    let time = 0
    const journals = memoryJournals({ now: () => ++time })
    const effects: string[] = []
    const first = await open(journals, effects)
    first.send('pay')
    await finish(first)
    const whole = said(first.transcript)
    expect(whole).toEqual([
      'user: pay',
      'assistant: call a1 Agent {"prompt":"pay"}',
      'user: result a1 The agent paid.',
      'assistant: All done.',
    ])
    expect(effects).toEqual(['paid'])
    const logs = await logsOf(journals)
    expect([...logs.keys()].sort()).toEqual(['s', 's/outer_1/a1', 's/outer_1/a1/agent_1/d1'])
    const moments: [number, string][] = []
    for (const [id, records] of logs) for (const { at, t } of records) moments.push([at, `${id} ${t}`])
    const started = [...logs.values()].flat().findLast(({ t, call }) => t === 'call.started' && call === 'p1')?.at ?? 0
    let unknowns = 0
    for (const [at, name] of moments.sort(([a], [b]) => a - b)) {
      const again: string[] = []
      const store = await storeAt(logs, at)
      const session = await open(store, again)
      if (session.status === 'idle' && session.transcript.length === 0) session.send('pay')
      else session.resume()
      await finish(session)
      expect([name, session.status, checkTranscript(session.transcript)]).toEqual([name, 'idle', { ok: true }])
      expect([name, said(session.transcript)]).toEqual([name, whole])
      // whether it was paid before the crash is in the log of the innermost agent
      expect([name, again.length]).toEqual([name, at < started ? 1 : 0])
      const after = await logsOf(store)
      const folded = foldJournal(after.get('s') as JournalRecord[])
      expect([name, said(folded.transcript as never)]).toEqual([name, whole])
      if (JSON.stringify([...after.values()]).includes('It may or may not')) unknowns++
      await session.close()
    }
    // only where the payment had started and was not completed
    expect(unknowns).toBeGreaterThan(0)
    expect(unknowns).toBeLessThan(4)
  })

  it('U1 U3 D17 after a crash at any record of any log, agents and their calls count once', async () => {
    let time = 0
    const journals = memoryJournals({ now: () => ++time })
    const first = await open(journals, [])
    first.send('pay')
    await finish(first)
    expect(first.usage).toMatchObject({ calls: 3, agents: 2, turns: 6 })
    const logs = await logsOf(journals)
    const moments = [...logs].flatMap(([id, records]) => records.map(({ at, t }) => [at, `${id} ${t}`] as const))
    for (const [at, name] of moments.sort(([a], [b]) => a - b)) {
      const store = await storeAt(logs, at)
      const session = await open(store, [])
      if (session.status === 'idle' && session.transcript.length === 0) session.send('pay')
      else session.resume()
      await finish(session)
      const { calls, agents } = session.usage
      expect([name, calls, agents]).toEqual([name, 3, 2])
      // a third process knows the same
      const folded = foldJournal((await logsOf(store)).get('s') as JournalRecord[])
      expect([name, folded.usage.calls, folded.usage.agents]).toEqual([name, 3, 2])
      await session.close()
    }
  })

  it('D11 D17 the table in the docs says what happens to the call of an agent', async () => {
    let time = 0
    const journals = memoryJournals({ now: () => ++time })
    const first = await open(journals, [], true)
    first.send('pay')
    await finish(first)
    const logs = await logsOf(journals)
    const moments = [...logs].flatMap(([id, records]) =>
      records.map(({ at, t, call }) => ({ at, t, call, log: id === 's' ? 'session' : 'agent' })),
    )
    const table = ['| log | ends with | body runs: before, after | question | result |', '|---|---|---|---|---|']
    let before = 0
    for (const { at, t, call, log } of moments.toSorted((one, other) => one.at - other.at)) {
      if (t === 'call.started' && call === 'p1') before = 1
      // these say nothing about a call
      if (['session.created', 'session.opened', 'usage.spent', 'run.suspended'].includes(t)) continue
      const effects: string[] = []
      const store = await storeAt(logs, at)
      const session = await open(store, effects, true)
      const isOpen = session.questions().length > 0
      session.resume()
      await finish(session)
      const isUnknown = JSON.stringify([...(await logsOf(store)).values()]).includes('It may or may not')
      const result = isUnknown ? 'unknown outcome' : 'its result'
      table.push(`| ${log} | \`${t}\` | ${before}, ${effects.length} | ${isOpen ? 'open again' : '–'} | ${result} |`)
      await session.close()
      if (t === 'turn.committed' && log === 'session') break
    }
    expect(readFileSync('docs/durability.md', 'utf8')).toContain(table.join('\n'))
  })
})
