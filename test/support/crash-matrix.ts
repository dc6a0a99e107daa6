import { type AnyTool, allowAllTools, type CanUseTool, defineTool, type Model } from 'signalbox'
import { foldJournal, type JournalRecord, openSession } from 'signalbox/durable'
import { scriptedModel } from 'signalbox/scripted'
import { z } from 'zod'
import { checkTranscript } from '../../src/transcripts/index.ts'
import { cutJournals } from './cut-journals.ts'

/** A kind of call, as the table of the docs tells kinds apart. */
export interface CallKind {
  readonly name: string
  readonly isReadOnly: boolean
  readonly isAsked: boolean
  readonly recover?: 'again' | undefined
}

export const callKinds: readonly CallKind[] = [
  { name: 'read-only', isReadOnly: true, isAsked: false },
  { name: 'with effects', isReadOnly: false, isAsked: false },
  { name: "with effects, `recover: 'again'`", isReadOnly: false, isAsked: false, recover: 'again' },
  { name: 'with effects, asked', isReadOnly: false, isAsked: true },
]

export interface Outcome {
  readonly lastRecord: string
  /** How often the body has begun: before the crash, and after it. */
  readonly starts: readonly [before: number, after: number]
  readonly isOpenAgain: boolean
  readonly result: string
  readonly problems: readonly string[]
}

/** One call, in a session that is cut off after each of its records in turn and then resumed. */
export async function crashEverywhere(kind: CallKind): Promise<Outcome[]> {
  const whole = await firstLife(kind)
  const outcomes: Outcome[] = []
  // the store itself writes the first two
  for (let length = 2; length <= whole.length; length++) outcomes.push(await secondLife(kind, whole.slice(0, length)))
  return outcomes
}

async function firstLife(kind: CallKind): Promise<JournalRecord[]> {
  const store = cutJournals([])
  const { tool } = act(kind)
  const session = await openSession({
    id: 's',
    journals: store,
    tools: [tool],
    model,
    canUseTool: hostOf(kind),
  })
  const isOver = new Promise<void>((resolve) => {
    session.on('run_ended', ({ result }) => (result.reason === 'suspended' ? undefined : resolve()))
  })
  session.on('question_opened', ({ id }) => void session.answer(id, { behavior: 'allow' }))
  session.send('Act.')
  await isOver
  await session.close()
  return store.records
}

async function secondLife(kind: CallKind, records: readonly JournalRecord[]): Promise<Outcome> {
  const store = cutJournals(records)
  const { tool, starts } = act(kind)
  const before = foldJournal(records)
  const asked = before.questions.map(({ id }) => id)
  const transcript = before.transcript.length
  const session = await openSession({ id: 's', journals: store, tools: [tool], model, canUseTool: hostOf(kind) })
  const open = session.questions().map(({ id }) => id)
  await finish(session)
  const after = foldJournal(store.records)
  const last = session.transcript
  await session.close()
  const hasBegun = records.some(({ t }) => t === 'call.started' || t === 'call.completed')
  return {
    lastRecord: records.at(-1)?.t ?? '',
    starts: [hasBegun ? 1 : 0, starts.length],
    isOpenAgain: asked.length > 0 && asked.join() === open.join(),
    result: resultIn(last),
    problems: [
      ...(checkTranscript(last).ok ? [] : ['the transcript is invalid']),
      ...(JSON.stringify(after.transcript) === JSON.stringify(last) ? [] : ['the log folds to another transcript']),
      ...(after.transcript.length >= transcript ? [] : ['the transcript has lost something']),
      ...(asked.join() === open.join() ? [] : ['a question is lost']),
    ],
  }
}

type Session = Awaited<ReturnType<typeof openSession>>

/** Resumes until nothing is left to do, and answers what is asked. */
async function finish(session: Session): Promise<void> {
  for (let round = 0; round < 10 && session.status === 'suspended'; round++) {
    for (const { id } of session.questions()) await session.answer(id, { behavior: 'allow' })
    for await (const _ of session.resume());
    await session.whenIdle()
  }
}

function act({ isReadOnly, recover }: CallKind): { tool: AnyTool; starts: string[] } {
  const starts: string[] = []
  const tool = defineTool({
    name: 'Act',
    inputSchema: z.object({ step: z.number() }),
    isReadOnly: () => isReadOnly,
    ...(recover !== undefined && { recover: () => recover }),
    call: async (_input, { toolUseID }) => {
      starts.push(toolUseID)
      return { data: 'acted' }
    },
  })
  return { tool, starts }
}

const hostOf = ({ isAsked }: CallKind): CanUseTool => (isAsked ? () => ({ behavior: 'later' }) : allowAllTools)

/** Asks for the call until it has a result. */
const model: Model = (request) =>
  scriptedModel([
    JSON.stringify(request.messages).includes('tool_result') ? 'Done.' : [{ call: 'Act', input: { step: 1 } }],
  ])(request)

function resultIn(transcript: readonly unknown[]): string {
  const text = JSON.stringify(transcript)
  if (text.includes('It may or may not have taken effect')) return 'unknown outcome'
  if (text.includes('"content":"acted"')) return 'its result'
  return text.includes('tool_result') ? 'did not run' : 'none: nothing was asked for'
}
