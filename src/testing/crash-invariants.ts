import { aFlag, aFunction, anArray, anIntegerFrom } from '../base/option-rules.ts'
import type { OpenSessionOptions } from '../durable/open-session.ts'
import type { Message, ToolResultBlock } from '../messages/message.ts'
import type { AnyTool } from '../tool/tool.ts'
import type { CrashingBody } from './crashing-bodies.ts'
import type { CrashingConversation } from './crashing-conversation.ts'
import type { Breach } from './invariant.ts'
import type { OptionRules } from './option-rules.ts'
import type { QuerySetup } from './query-setup.ts'

/** A small conversation in processes that crash. */
export interface CrashSetup {
  /** Their bodies are held; everything else is real. */
  readonly tools: readonly AnyTool[]
  /** The model's replies in order. After the last one, the model replies that it is done. */
  readonly replies: QuerySetup['replies']
  /** Every call waits for an answer, which may come in any process. @default false */
  readonly isAsked?: boolean | undefined
  /** Bodies may fail. @default false */
  readonly failure?: boolean | undefined
  /** The user may abort the run once, in any process. @default false */
  readonly aborts?: boolean | undefined
  /** Running calls may go to the background. @default false */
  readonly detaches?: boolean | undefined
  /** How many processes crash in one story. @default 1 */
  readonly maxCrashes?: number | undefined
  /** A tool says `'again'` in its `recover`. @default false */
  readonly mayRunAgain?: boolean | undefined
  /** Options of each process, by the number of crashes before it: rules, hooks and tools may change between processes. */
  readonly options?: ((crashes: number) => ProcessOptions) | undefined
}

export const crashRules: OptionRules<CrashSetup> = {
  ...{ tools: anArray, replies: anArray, options: aFunction, maxCrashes: anIntegerFrom(1) },
  ...{ isAsked: aFlag, failure: aFlag, aborts: aFlag, detaches: aFlag, mayRunAgain: aFlag },
}

export interface ProcessOptions
  extends Partial<Omit<OpenSessionOptions, 'id' | 'journals' | 'tools' | 'model' | 'executor'>> {
  /** Names of tools that this process does not have. */
  readonly without?: readonly string[] | undefined
}

interface SeenResult {
  readonly key: string
  readonly text: string
}

/** Every call of a reply that counts has one result, and the result is true. What was yielded stays. */
export function resultBreaches(world: CrashingConversation): Breach[] {
  const { session, bodies, journals, yielded } = world
  const transcript = session?.transcript ?? []
  const detached = new Set(backgroundsIn(world).map(({ key }) => key))
  const results = transcript.flatMap((message) => resultsOf(message, transcript))
  const breaches: Breach[] = []
  for (const { key, text } of results) {
    const body = bodies.byKey.get(key)
    const hasStarted = journals.records.some(
      (record) => record.t === 'call.started' && key === `${record.reply} ${record.call}`,
    )
    // a call that changes nothing leaves no record of its start, so nobody can know that it was running
    const isTrue = text.includes('Running in the background')
      ? detached.has(key)
      : text.includes('It may or may not')
        ? hasStarted
        : text.includes('The user stopped this call')
          ? isTrueStop(text, body?.state)
          : text.includes(' done')
            ? body?.state === 'finished'
            : text.includes('broken')
              ? body?.state === 'failed'
              : body === undefined || (body.onlyReads && body.state === 'gone')
    if (!isTrue) breaches.push({ invariant: 'every result is true', problem: `${key}: ${text}, but it ${body?.state}` })
  }
  if (new Set(results.map(({ key }) => key)).size !== results.length)
    breaches.push({ invariant: 'every call has one result', problem: results.map(({ key }) => key).join() })
  const discarded = new Set(
    journals.records.flatMap((record) => (record.t === 'attempt.discarded' ? record.reply : [])),
  )
  for (const message of yielded) {
    for (const { key, text } of resultsOf(message as Message, yielded as Message[])) {
      if (discarded.has(key.split(' ')[0])) continue
      if (!results.some((result) => result.key === key && result.text === text))
        breaches.push({ invariant: 'what was yielded stays', problem: `${key}: ${text}` })
    }
  }
  return breaches
}

interface LoggedOutcome {
  readonly id: string
  readonly key: string
  readonly isAwaited: boolean
  /** Its call is completed, so that somebody knows of it, and its reply counts. */
  readonly isKnown: boolean
  /** Where the log has its outcome; -1 if it has none. */
  readonly endedAt: number
}

/** The calls that went to the background, by the log alone. */
export function backgroundsIn({ journals: { records } }: CrashingConversation): LoggedOutcome[] {
  const at = (type: string, field: string, value: unknown): number =>
    records.findIndex((record) => record.t === type && (record as { [name: string]: unknown })[field] === value)
  return records.flatMap((record, startedAt) => {
    if (record.t !== 'background.started') return []
    const { id, reply, call, isAwaited } = record as unknown as {
      readonly [field in 'id' | 'reply' | 'call']: string
    } & { readonly isAwaited: boolean }
    const isCompleted = records.some(
      (each, n) => n > startedAt && each.t === 'call.completed' && each.reply === reply && each.call === call,
    )
    const isKnown = isCompleted && at('attempt.discarded', 'reply', reply) < 0
    return [{ id, key: `${reply} ${call}`, isAwaited, isKnown, endedAt: at('background.finished', 'id', id) }]
  })
}

/** X3 X4: every outcome is told once, in the order in which the calls ended, and is true; a completed run waited for it. */
export function outcomeBreaches(world: CrashingConversation): Breach[] {
  const { session, bodies } = world
  const breaches: Breach[] = []
  const fail = (invariant: string, problem: string): void => void breaches.push({ invariant, problem })
  const told = (session?.transcript ?? []).flatMap((message) =>
    message.type === 'user' && message.background !== undefined
      ? [{ id: message.background.id, text: JSON.stringify(message.message.content) }]
      : [],
  )
  const known = backgroundsIn(world).filter(({ isKnown }) => isKnown)
  const isCompleted = session?.result?.reason === 'completed'
  for (const { id, key, isAwaited, endedAt } of known) {
    const own = told.filter((outcome) => outcome.id === id)
    const state = bodies.byKey.get(key)?.state
    if (own.length > 1) fail('an outcome is told once', `${key} was told ${own.length} times`)
    if (own.length === 0 && isCompleted && endedAt >= 0) fail('an outcome is told', `${key} ended, and nobody was told`)
    if (isCompleted && isAwaited && (endedAt < 0 || state === 'running'))
      fail('a completed run has waited', `${key} ${state}`)
    for (const { text } of own) {
      const isTrue = text.includes(' done')
        ? state === 'finished'
        : text.includes('broken')
          ? state === 'failed'
          : text.includes('It may or may not') || world.isAborted
      if (!isTrue) fail('an outcome is true', `${key} ${state}, but was told as ${text}`)
    }
  }
  const stray = told.find(({ id }) => !known.some((each) => each.id === id))
  if (stray !== undefined) fail('an outcome has its call', `${stray.id} never went to the background`)
  const order = told.map(({ id }) => known.find((each) => each.id === id)?.endedAt ?? -1)
  if (order.some((at, n) => n > 0 && at < (order[n - 1] as number)))
    fail('outcomes are told in the order in which the calls ended', told.map(({ id }) => id).join())
  return breaches
}

/** Stopped while it was asked about or after an error, or returned all the same. */
const isTrueStop = (text: string, state: CrashingBody['state'] | undefined): boolean =>
  text.includes('nothing more was done') ? state === undefined || state === 'failed' : state === 'finished'

function resultsOf(message: Message, among: readonly Message[]): SeenResult[] {
  if (message.type !== 'user' || typeof message.message.content === 'string') return []
  const source = among.find(({ uuid }) => uuid === message.sourceToolAssistantUUID)
  const reply = source?.type === 'assistant' ? source.message.id : '?'
  return (message.message.content as ToolResultBlock[]).flatMap(({ type, tool_use_id: id, content }) =>
    type === 'tool_result' ? [{ key: `${reply} ${id}`, text: JSON.stringify(content) }] : [],
  )
}
