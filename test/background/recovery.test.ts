import { type AnyTool, allowAllTools, defineTool, type Model, type Session, toApiMessages } from 'signalbox'
import { foldJournal, type JournalRecord, openSession } from 'signalbox/durable'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { backgroundTools } from '../../packages/tools/src/background.ts'
import { callBlock, textBlock } from '../../src/testing/held-model.ts'
import { checkTranscript } from '../../src/transcripts/index.ts'
import { cutJournals } from '../support/cut-journals.ts'
import { inShort } from '../support/query.ts'
import { flush } from '../support/turn.ts'

type Kind = 'read-only' | 'with effects' | 'with effects, again' | 'elsewhere'
type Way = 'delivered by itself' | 'read by BackgroundOutput' | 'not awaited'
type Trouble = 'suspend' | 'close' | 'abort' | 'interrupt'

interface World {
  readonly kind: Kind
  readonly way: Way
}

const overloaded = () => Object.assign(new Error('overloaded'), { status: 529 })
/** Nothing here needs more rounds, except a retry of the model, which waits for a timer. */
async function settle(isOver: () => boolean = () => false): Promise<void> {
  for (let round = 0; round < 15 && !isOver(); round++) await flush()
}

/** One process: its bodies, and a model that knows what to do from the conversation alone. */
function life({ kind, way }: World, failures = 0) {
  const starts: string[] = []
  let open = (): void => undefined
  const gate = new Promise<void>((resolve) => {
    open = resolve
  })
  const slow = {
    ...defineTool({
      name: 'Slow',
      inputSchema: z.object({}),
      isReadOnly: () => kind === 'read-only',
      background: { awaited: way !== 'not awaited' },
      async call(_input, context) {
        starts.push(context.toolUseID)
        context.detach?.()
        const { signal } = context.abortController
        await Promise.race([
          gate,
          new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
        ])
        return { data: 'THE OUTCOME' }
      },
    }),
    ...(kind === 'with effects, again' && { recover: () => 'again' }),
    ...(kind === 'elsewhere' && { recover: () => ({ data: 'THE OUTCOME' }) }),
  } as AnyTool
  let left = failures
  const model: Model = async function* ({ messages }) {
    const said = JSON.stringify(messages)
    if (left-- > 0) throw overloaded()
    const isReading = way === 'read by BackgroundOutput' && tellings(said) === 0 && !said.includes('"BackgroundOutput"')
    const step = said.includes('"Slow"') ? (isReading ? 2 : 3) : 1
    yield { type: 'message_start', message: { id: `msg_${messages.length}`, model: 'm' } }
    if (step === 1) yield* callBlock(0, 'a', 'Slow', '{}')
    else if (step === 2) yield* callBlock(0, 'r', 'BackgroundOutput', '{"id":"bg_1","waitMs":100000}')
    else yield* textBlock(0, `Seen ${tellings(said)}.`)
    yield { type: 'message_delta', delta: { stop_reason: step === 3 ? 'end_turn' : 'tool_use' } }
    yield { type: 'message_stop' }
  }
  const options = {
    id: 's',
    tools: [slow, ...backgroundTools()],
    model,
    canUseTool: allowAllTools,
    retry: { attempts: 2, backoffMs: 0 },
  }
  return { options, starts, open }
}

/** How often the model is told what became of the body. */
const tellings = (text: string): number =>
  text.split('THE OUTCOME').length + text.split('It may or may not').length + text.split('It was stopped').length - 3

/** Goes on until there is nothing more to do. */
async function finish(session: Session, open: () => void): Promise<void> {
  const isIdle = (): boolean => session.status === 'idle'
  for (let round = 0; round < 20; round++) {
    if (session.status === 'suspended') session.resume()
    await settle(isIdle)
    open()
    await settle(isIdle)
    // a background call may still be about to end
    await flush()
    if (isIdle()) return
    await new Promise((resolve) => setTimeout(resolve, 1))
  }
  throw new Error(`it did not end: ${session.status} ${JSON.stringify(session.background.list())}`)
}

/** One more prompt: what has ended since the last run precedes it. */
async function sayMore(session: Session, open: () => void): Promise<void> {
  session.send('And?')
  await finish(session, open)
}

async function wholeLog(world: World): Promise<JournalRecord[]> {
  const store = cutJournals([])
  const { options, open, starts } = life(world)
  const session = await openSession({ ...options, journals: store })
  session.send('Go.')
  await finish(session, open)
  await sayMore(session, open)
  expect([starts, tellings(JSON.stringify(toApiMessages(session.transcript)))]).toEqual([['a'], 1])
  const { length } = store.records
  await session.close()
  return store.records.slice(0, length)
}

async function crashedAt(world: World, records: readonly JournalRecord[], failures: number) {
  const store = cutJournals(records)
  const second = life(world, failures)
  const session = await openSession({ ...second.options, journals: store })
  if (session.transcript.length === 0 && session.status === 'idle') session.send('Go.')
  await finish(session, second.open)
  await sayMore(session, second.open)
  const began = records.some(({ t }) => t === 'call.started' || t === 'background.started') ? 1 : 0
  const told = problemsOf(session, store.records)
  await session.close()
  return { ...told, starts: [began, second.starts.length] as const }
}

/** The same process goes on, or the next one does, after the n-th record. */
async function troubledAt(world: World, at: number, trouble: Trouble) {
  const first = life(world)
  const store = cutJournals([])
  const act = () => {
    if (trouble === 'suspend') void session.suspend()
    else if (trouble === 'abort') session.abort('escape')
    else if (trouble === 'interrupt') session.interrupt()
    else void session.close()
  }
  const open = store.open.bind(store)
  let n = 0
  const journals = {
    ...store,
    open: async (...given: Parameters<typeof open>) => {
      const journal = await open(...given)
      return {
        ...journal,
        append: (record: Parameters<typeof journal.append>[0]) => {
          journal.append(record)
          if (++n === at) queueMicrotask(act)
        },
      }
    },
  }
  let session = await openSession({ ...first.options, journals })
  session.send('Go.')
  for (let round = 0; round < 4 && n < at; round++) {
    await settle()
    first.open()
  }
  await settle()
  let gate = first.open
  const starts = first.starts.length
  let later: string[] = []
  if (trouble === 'close') {
    await session.close()
    const second = life(world)
    session = await openSession({ ...second.options, journals: store })
    gate = second.open
    later = second.starts
  }
  await finish(session, gate)
  await sayMore(session, gate)
  await sayMore(session, gate)
  const told = problemsOf(session, store.records)
  await session.close()
  return { ...told, starts: [starts, later.length + first.starts.length - starts] as const }
}

function problemsOf(session: Session, records: readonly JournalRecord[]) {
  const { transcript } = session
  const lines = inShort(transcript)
  const checked = checkTranscript(transcript)
  const folded = foldJournal(records).transcript
  return {
    lines,
    told: tellings(JSON.stringify(toApiMessages(transcript))),
    isDetached: lines.some((line) => line.includes('Running in the background')),
    isCalled: lines.some((line) => line.includes('Slow {}')),
    problems: [
      ...(checked.ok ? [] : ['the transcript is invalid']),
      ...(JSON.stringify(folded) === JSON.stringify(transcript) ? [] : ['the log folds to another transcript']),
    ],
  }
}

const isFull = process.env.SIGNALBOX_FULL !== undefined
const kinds = ['with effects', 'with effects, again', ...(isFull ? (['read-only', 'elsewhere'] as const) : [])] as const
const troubles: readonly Trouble[] = isFull ? ['suspend', 'close', 'abort', 'interrupt'] : ['suspend', 'abort']
const ways = ['delivered by itself', 'read by BackgroundOutput', 'not awaited'] as const
const worlds = ways.flatMap((way) => kinds.map((kind) => ({ kind, way })))

describe('a background call in a session with a journal', () => {
  it.each(worlds)('X3 X9 D11 $way, $kind: a crash after any record loses and doubles nothing', async (world) => {
    const whole = await wholeLog(world)
    const names = whole.map(({ t }) => t)
    expect(names.indexOf('background.started')).toBeLessThan(names.indexOf('call.completed'))
    for (const failures of isFull || world.way === 'delivered by itself' ? [0, 1] : [0]) {
      for (let length = 2; length <= whole.length; length++) {
        const { told, problems, starts, lines } = await crashedAt(world, whole.slice(0, length), failures)
        const at = `${length} ${whole[length - 1]?.t}, ${failures} failures`
        expect([at, told, problems, told === 1 ? [] : lines]).toEqual([at, 1, [], []])
        const mayRepeat = world.kind === 'read-only' || world.kind === 'with effects, again'
        if (!mayRepeat) expect([at, starts[0] + starts[1]]).toEqual([at, 1])
        // what is finished in the log never runs again
        if (names.slice(0, length).includes('background.finished')) expect([at, starts[1]]).toEqual([at, 0])
      }
    }
  })

  it.each(
    worlds
      .filter(({ kind }) => isFull || kind === 'with effects')
      .flatMap((world) => troubles.map((trouble) => ({ ...world, trouble }))),
  )('X3 X6 X9 $way, $kind: $trouble after any record loses and doubles nothing', async ({ trouble, ...world }) => {
    const whole = await wholeLog(world)
    for (let at = 2; at <= whole.length; at++) {
      const { told, problems, starts, lines, isDetached } = await troubledAt(world, at, trouble)
      if (isDetached) expect([at, told, told === 1 ? [] : lines]).toEqual([at, 1, []])
      expect([at, problems]).toEqual([at, []])
      if (world.kind === 'with effects' || world.kind === 'elsewhere')
        expect([at, starts[0] + starts[1] <= 1]).toEqual([at, true])
    }
  })
})
