import { foldJournal, type JournalRecord, memoryJournals, openSession } from 'signalbox/durable'
import { scriptedModel } from 'signalbox/scripted'
import { subAgent } from 'signalbox/sub-agent'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { discardedRuns, totalsOf, turnNumbers, turnsOf } from '../../../inspector-app/src/model/conversation.ts'
import { reduce } from '../../../inspector-app/src/model/reduce.ts'
import { isSignalboxError } from '../../../src/base/signalbox-error.ts'
import {
  type AnyTool,
  allowAllTools,
  type CanUseTool,
  defineTool,
  type Message,
  type Model,
  type Session,
} from '../../../src/index.ts'
import {
  checkFrame,
  createRecorder,
  emptyRunModel,
  type Frame,
  type FrameOf,
  foldFrame,
  type RunModel,
  recordingOfJournal,
  recordingOfSession,
} from '../../../src/inspect/index.ts'
import { SessionDigests } from '../../../src/inspect/journal/session-digest.ts'
import { RecordingChecks } from '../../../src/testing/recording-checks.ts'
import { randomFrom } from '../../../src/testing/repeatable.ts'
import { lives, readAll, sayLast, startReply, until } from '../../support/durable-lives.ts'
import { heldTool } from '../../support/held-tool.ts'

const listener = {
  newRun: (run: never) => run,
  newServer: (server: never) => server,
  run: { newCall: (call: never) => call, newActor: (actor: never) => actor },
  server: { newActor: (actor: never) => actor },
}

function modelOf(frames: readonly Frame[]): RunModel {
  const model = emptyRunModel()
  for (const frame of frames) foldFrame(model, frame, listener as never)
  return model
}

const ofType = <T extends Frame['type']>(frames: readonly Frame[], type: T) =>
  frames.filter((frame): frame is FrameOf<T> => frame.type === type)

async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const found: T[] = []
  for await (const item of items) found.push(item)
  return found
}

const tools = (): AnyTool[] => [
  defineTool({
    name: 'Look',
    inputSchema: z.object({ at: z.string() }),
    isConcurrencySafe: () => true,
    isReadOnly: () => true,
    call: async ({ at }) => ({ data: `saw ${at}` }),
  }),
  defineTool({
    name: 'Pay',
    inputSchema: z.object({ sum: z.number() }),
    call: async ({ sum }) => {
      if (sum > 100) throw new Error('too much')
      return { data: `paid ${sum}` }
    },
  }),
]

const calls = [
  { call: 'Look', input: { at: 'a' }, id: 'look' },
  { call: 'Pay', input: { sum: 5 }, id: 'pay' },
  { call: 'Pay', input: { sum: 500 }, id: 'much' },
  { call: 'Gone', input: {}, id: 'gone' },
  { call: 'Pay', input: { sum: 7 }, id: 'denied' },
]

/** Asks for the calls until they have results, in any life. */
const model: Model = (request) =>
  scriptedModel([JSON.stringify(request.messages).includes('tool_result') ? 'Done.' : calls])(request)

const host: CanUseTool = (_tool, { sum }) =>
  sum === 7 ? { behavior: 'deny', message: 'not today' } : Promise.resolve({ behavior: 'allow' })

/** A session from its prompt to its end, with its log and what a recorder saw of it. */
async function played(canUseTool = host) {
  let time = 1_000
  const journals = memoryJournals({ now: () => (time += 10) })
  const session = await openSession({ id: 's', journals, tools: tools(), model, canUseTool, owner: 'first' })
  const seen: Frame[] = []
  const recorder = createRecorder({ onFrame: (frame) => seen.push(frame) })
  session.on('run_started', ({ run }) => {
    run.onExecutor((executor) => void recorder.watch(executor))
  })
  for await (const _ of session.send('Pay.'));
  await session.close()
  return { journals, seen, records: await all(journals.read('s')) }
}

/** What a run model knows of each call, as far as a log can know it. */
const callsOf = (frames: readonly Frame[]) =>
  [...modelOf(frames).runs.values()].flatMap(({ calls }) =>
    calls.map(({ id, name, ending, stage, results }) => ({
      id,
      name,
      by: ending?.by,
      kind: ending?.kind,
      stage,
      results: results.map(({ message, isError, content }) => ({ message, isError, content })),
    })),
  )

describe('the log of a session as a recording', () => {
  it('D26 its records go through the real charts: calls end as a recorder saw them live', async () => {
    const { seen, records } = await played()
    const frames = await all(recordingOfJournal(records))
    for (const frame of frames) expect(typeof checkFrame(JSON.parse(JSON.stringify(frame)))).toBe('object')
    expect(callsOf(frames)).toEqual(callsOf(seen))
    expect(callsOf(frames).map(({ id, by }) => [id, by])).toEqual([
      ['look', 'result'],
      ['pay', 'result'],
      ['much', 'result'],
      ['gone', 'answer'],
      ['denied', 'result'],
    ])
    const charts = new Set(ofType(frames, 'chart').map(({ chart }) => chart.id))
    expect([...charts].sort()).toEqual(['call', 'executor', 'query'])
    // a call whose start is recorded was journaling; one that was denied never ran
    const events = (id: string) => {
      const actor = ofType(frames, 'call').find(({ call }) => call === id)?.actor
      return ofType(frames, 'event').flatMap(({ to, event }) => (to === actor ? event : []))
    }
    expect(events('pay')).toContain('start.journaled')
    expect(events('denied')).toContain('permission.denied')
    expect(events('denied')).not.toContain('tool.settled')
    expect(ofType(frames, 'said').map(({ by, text }) => [by, text])).toContainEqual(['user', 'Pay.'])
    expect(ofType(frames, 'reply').length).toBe(2)
    const { runs } = modelOf(frames)
    const query = runs.get(2)?.actors.get(runs.get(2)?.queryActor ?? '')
    expect(query?.isDone).toBe(true)
  })

  it('D26 a message without a reply is no turn', async () => {
    const { records } = await played()
    const sent = records.slice(0, records.findIndex(({ t }) => t === 'message.sent') + 1)
    const frames = await all(recordingOfJournal(sent))
    const turns = turnsOf(reduce(frames))
    expect(turns.map(({ title }) => title)).toEqual(['no reply'])
    expect(turns.flatMap(({ said }) => said.map(({ by, text }) => [by, text]))).toContainEqual(['user', 'Pay.'])
    expect(turnNumbers(turns)).toEqual([undefined])
  })

  it('D11 D26 a reply that is discarded because its process stopped does not count from its beginning on', async () => {
    const read = heldTool('Read', { isReadOnly: () => true, safe: true })
    const world = lives([read.tool], { canUseTool: allowAllTools })
    const first = await world.begin()
    first.session.send('go')
    const { held } = await startReply(first)
    held.text('I look')
    held.call('r', 'Read')
    await until(() => read.started.length === 1)
    read.run('r').finish()
    await world.written('call.completed')
    const second = await world.begin()
    const rest = readAll(second.session.resume())
    await sayLast(second)
    await rest
    const turns = turnsOf(reduce(await all(recordingOfJournal(world.journals.read('s')))))
    const discarded = discardedRuns(turns)
    expect(turns.map((run) => [run.title, discarded.has(run)])).toEqual([
      ['turn 1', true],
      ['turn 1, continued', true],
      ['turn 1', false],
    ])
  })

  it('D26 times are those of the log', async () => {
    const { records } = await played()
    const frames = await all(recordingOfJournal(records))
    expect(ofType(frames, 'head')[0]?.epoch).toBe(records[0]?.at)
    const started = records.find(({ t }) => t === 'call.started')
    const frame = ofType(frames, 'event').find(({ event }) => event === 'start.journaled')
    expect((records[0]?.at ?? 0) + (frame?.at ?? 0)).toBe(started?.at)
  })

  it('D26 cut at any record and resumed, it shows every question that is open, results of the log as such, unknown outcomes, and who recovered it', async () => {
    const { records: whole } = await played(() => ({ behavior: 'later' }))
    const finished = await played()
    const unknown: string[] = []
    const fromLog: string[] = []
    for (const log of [whole, finished.records]) {
      for (let length = 2; length <= log.length; length += log === whole ? 3 : 1) {
        const { journals, cut } = await resumed(log.slice(0, length))
        for (const records of [cut, await all(journals.read('s'))]) {
          const frames = await all(recordingOfJournal(records))
          const problems = frames.filter((frame) => typeof checkFrame(JSON.parse(JSON.stringify(frame))) === 'string')
          expect(problems).toEqual([])
          const checks = new RecordingChecks()
          for (const frame of frames) checks.see(frame)
          expect(checks.breaches(false)).toEqual([])
          expect(ofType(frames, 'gap')).toEqual([])
          const runs = [...modelOf(frames).runs.values()]
          const folded = foldJournal(records)
          const open = runs.at(-1)?.questions.map(({ call }) => call) ?? []
          expect(open.sort()).toEqual(folded.questions.map(({ toolUseID }) => toolUseID).sort())
          for (const [call, content] of resultsIn(folded.transcript))
            expect(resultsFor(frames, call)).toContain(content)
          for (const frame of ofType(frames, 'ending')) {
            if (frame.by === 'unknown') unknown.push(frame.call)
            if (frame.by === 'journal') fromLog.push(frame.call)
          }
          const isTakenOver = records.filter(({ t }) => t === 'session.opened').length > 1 && records !== cut
          const by = runs.flatMap(({ recovered }) => recovered?.by ?? [])
          const isUnfinished = foldJournal(log.slice(0, length)).status !== 'idle'
          if (isTakenOver && isUnfinished) expect(by).toContain('second')
        }
      }
    }
    expect(new Set(unknown)).toEqual(new Set(['pay', 'much']))
    expect(new Set(fromLog)).toEqual(new Set(['look', 'pay', 'much', 'gone', 'denied']))
  })

  it('D26 cut at any record and finished, the page counts as many turns and calls as the list of sessions', async () => {
    const { records: whole } = await played()
    const continued: boolean[] = []
    // before its first message, a session has no turn
    for (let length = 3; length <= whole.length; length++) {
      const { journals } = await resumed(whole.slice(0, length))
      const [listed] = (await new SessionDigests(journals).list()).sessions
      const turns = turnsOf(reduce(await all(recordingOfJournal(await all(journals.read('s'))))))
      const shown = { turns: turnNumbers(turns).at(-1), calls: totalsOf(turns).calls }
      expect(shown, `after ${length} records`).toEqual({ turns: listed?.turns, calls: listed?.calls })
      continued.push(turns.some(({ isContinued }) => isContinued))
    }
    expect(new Set(continued)).toEqual(new Set([false, true]))
  })

  it('D26 D17 agents stand below the call that they work for, also inside each other', async () => {
    const journals = memoryJournals()
    const deep = subAgent({
      name: 'Deep',
      tools: tools(),
      model: scriptedModel([[{ call: 'Look', input: { at: 'b' }, id: 'inner' }], 'Deep.']),
    })
    const outer = subAgent({
      tools: [deep as AnyTool],
      model: scriptedModel([[{ call: 'Deep', input: { prompt: 'p' }, id: 'deep' }], 'Agent.']),
    })
    const first = scriptedModel([[{ call: 'Agent', input: { prompt: 'p' }, id: 'agent' }], 'Done.'])
    const session = await openSession({
      id: 's',
      journals,
      tools: [outer as AnyTool],
      model: first,
      canUseTool: allowAllTools,
    })
    for await (const _ of session.send('go'));
    await session.close()
    const frames = await all(recordingOfSession(journals, 's'))
    const runs = [...modelOf(frames).runs.values()]
    const of = (id: string) => runs.find(({ byId }) => byId.has(id))
    expect(of('agent')?.parentToolUseID).toBeUndefined()
    expect(of('deep')?.parentToolUseID).toBe('agent')
    expect(of('inner')?.parentToolUseID).toBe('deep')
    expect(of('inner')?.byId.get('inner')?.stage).toBe('yielded')
  })

  it('D26 an agent whose log is damaged, missing or the session itself does not hide the rest', async () => {
    const { records } = await played()
    const at = records.findIndex(({ t }) => t === 'call.started')
    const agent = (session: string) => ({
      t: 'agent.started',
      optional: true,
      reply: 'x',
      call: 'y',
      session,
      tool: 'A',
    })
    const added = ['s', 'missing', 'damaged'].map((id) => ({ ...agent(id), n: at, at: 0 }) as JournalRecord)
    const with3 = [...records.slice(0, at), ...added, ...records.slice(at)].map((record, n) => ({ ...record, n }))
    const journals = memoryJournals()
    const frames = await all(
      recordingOfJournal(with3, {
        agents: (session) => {
          if (session === 'damaged') throw new Error('page 7 is torn')
          return journals.read(session)
        },
      }),
    )
    expect(callsOf(frames).length).toBe(5)
    const said = ofType(frames, 'said').map(({ text }) => text)
    expect(said.filter((text) => text.includes('page 7 is torn')).length).toBe(1)
    expect(said.filter((text) => text.includes('missing'))).toEqual([])
  })

  it('D24 nothing that redact hides is in it', async () => {
    const { records } = await played()
    const redact = (value: unknown, { what }: { what: string }) => (what === 'rule' ? value : '(hidden)')
    const text = JSON.stringify(await all(recordingOfJournal(records, { redact })))
    for (const secret of ['paid 5', 'saw a', '"sum"', 'not today', 'Done.']) expect(text).not.toContain(secret)
  })

  it('D26 records that somebody edited are a clear error with their position, or are shown; never anything else', async () => {
    const { records } = await played()
    const next = randomFrom(20)
    const random = (below: number): number => Math.floor(next() * below)
    const junk = [null, 7, 'x', [], {}, { message: 5 }, [[null]], true]
    for (let round = 0; round < (process.env.SIGNALBOX_FULL === undefined ? 60 : 2_000); round++) {
      const edited = structuredClone(records) as Record<string, unknown>[]
      for (let times = random(3) + 1; times > 0; times--) {
        const record = edited[random(edited.length)] as Record<string, unknown>
        const field = Object.keys(record)[random(Object.keys(record).length)] as string
        if (random(2) === 0) delete record[field]
        else record[field] = junk[random(junk.length)]
      }
      try {
        const frames = await all(recordingOfJournal(edited as unknown as JournalRecord[]))
        for (const frame of frames) JSON.stringify(frame)
      } catch (error) {
        expect(isSignalboxError(error), String((error as Error).stack)).toBe(true)
        expect(['journal_corrupt', 'journal_newer']).toContain((error as { code: string }).code)
      }
    }
    const broken = records.map((record) => (record.t === 'call.started' ? { ...record, call: { no: 1 } } : record))
    broken[4] = { ...broken[4], t: 'reply.block', message: null } as never
    await expect(all(recordingOfJournal(broken))).rejects.toMatchObject({
      code: 'journal_corrupt',
      message: expect.stringContaining('record 4'),
    })
  })
})

const resultsIn = (transcript: readonly Message[]): [call: string, content: unknown][] =>
  transcript.flatMap((message) =>
    message.type !== 'user' || typeof message.message.content === 'string'
      ? []
      : message.message.content.flatMap((block) =>
          block.type === 'tool_result' ? [[String(block.tool_use_id), block.content] as [string, unknown]] : [],
        ),
  )

const resultsFor = (frames: readonly Frame[], id: string): unknown[] =>
  ofType(frames, 'result').flatMap(({ call, content }) => (call === id ? content : []))

/** The session after a crash, opened by another process: just opened, and finished. */
async function resumed(before: readonly JournalRecord[]) {
  const journals = memoryJournals()
  const [created, , ...rest] = before
  const { n: _n, at: _at, t: _t, v: _v, id: _id, ...fields } = created as JournalRecord
  const journal = await journals.open('s', { owner: 'first', mode: 'create', created: fields })
  for (const { n: _, at: __, note: ___, ...record } of rest) journal.append(record as { t: string })
  await journal.flush()
  const open = { id: 's', journals, tools: tools(), model, canUseTool: host, owner: 'second' } as const
  const session: Session = await openSession(open)
  const cut = await all(journals.read('s'))
  for (let round = 0; round < 5 && session.status === 'suspended'; round++) {
    for (const { id } of session.questions()) await session.answer(id, { behavior: 'allow' })
    for await (const _ of session.resume());
    await session.whenIdle()
  }
  await session.close()
  return { journals, cut }
}
