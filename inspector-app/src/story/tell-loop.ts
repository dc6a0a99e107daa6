import { activeStates, type FrameOf, whyWaitingForKey, whyWaitingForWorker } from '../../../src/inspect/index.ts'
import type { Actor, Run } from '../model/model.ts'
import { plainText } from '../plain-text.ts'
import { count, ended, inline, replyWords } from '../words.ts'
import type { Say } from './narrator.ts'
import { name } from './tell-schedule.ts'

/** Not said about a reply: the usual ends of one. */
const usualStops: ReadonlySet<string> = new Set(['tool_use', 'end_turn', 'stop', 'tool_calls'])

export function tellReply({ calls }: Run, { stopReason, tokens, costUsd }: FrameOf<'reply'>, say: Say): void {
  const { input, output, cacheRead, cacheWrite } = tokens
  const all = input + output + cacheRead + cacheWrite
  const spent = all === 0 ? '' : replyWords({ calls: 0, tokens: all, cached: cacheRead, costUsd })
  const asked = calls.length === 0 ? 'without a call' : `with ${count(calls.length, 'call')}`
  const notes = [...(usualStops.has(stopReason) ? [] : [plainText(stopReason)]), ...(spent === '' ? [] : [spent])]
  const text = `The model has finished its reply ${asked}${notes.length === 0 ? '' : ` (${notes.join(' · ')})`}.`
  say(calls.length === 0 ? 'L4' : 'L2', text)
}

/** The last word about each background call. A new turn repeats it, which is not news. */
export function tellBackground(run: Run, frame: FrameOf<'background'>, known: Map<string, string>, say: Say): void {
  const { id, call, label, status } = frame
  const key = `${id} ${call}`
  if (known.get(key) === status) return
  known.set(key, status)
  const own = run.byId.get(call)
  const it = `${plainText(id)} ${plainText(label)}`
  if (status === 'running' && own !== undefined) {
    const text = `${name(own)} goes to the background as ${plainText(id)}. The model gets a note in place of its result.`
    say('X2', text, own)
  } else if (status === 'stopping') say('X6', `${it} is told to stop.`, own)
  else if (status === 'finished') say('X3', `${it} has finished in the background.`, own)
  else if (status === 'failed') say('X3', `${it} failed in the background.`, own)
  else if (status === 'stopped') say('X6', `${it} has stopped in the background.`, own)
  else if (status === 'unknown') say('D12', `The outcome of ${it} is unknown.`, own)
  else if (status === 'delivered') say('X3', `The model gets the outcome of ${it} with its next turn.`, own)
  else if (status === 'dropped') say('X6', `Nobody gets the outcome of ${it}.`, own)
}

export function tellLocks(run: Run, frame: FrameOf<'locks'>, say: Say): void {
  const call = run.byId.get(frame.call)
  if (call === undefined) return
  if (frame.holders.length > 0) say('K6', `${name(call)} ${plainText(whyWaitingForKey(frame))}.`, call)
  else say('K6', `${name(call)} no longer waits for a key.`, call)
}

export function tellPlace(run: Run, { call: id, place, worker }: FrameOf<'place'>, say: Say): void {
  const call = run.byId.get(id)
  if (call === undefined) return
  const named = worker === null ? 'a worker' : `the worker ${plainText(worker)}`
  if (place === 'sent') say('R1', `${name(call)} ${whyWaitingForWorker({ waiting: null })}.`, call)
  else if (place === 'remote') say('R1', `${name(call)} runs on ${named}.`, call)
  else say('R7', `${name(call)} has lost ${worker === null ? 'its worker' : named}.`, call)
}

export function tellRecovered({ recovered }: Run, say: Say): void {
  if (recovered === undefined) return
  const { session, from, by } = recovered
  const before = from === null ? '' : ` after ${plainText(from)} had stopped`
  say('D11', `${plainText(by)} goes on with the session ${plainText(session)}${before}.`)
}

type Ending = readonly [rule: string, why: (context: { readonly [key: string]: unknown }) => string]

const endings: Readonly<Record<string, Ending>> = {
  completed: ['L4', () => 'the model has nothing more to do'],
  maxTurns: ['L7', () => 'maxTurns is reached'],
  limited: ['U2', ({ limit }) => limitWords(limit)],
  hookStopped: ['L7', () => 'a hook stopped it'],
  abortedStreaming: ['L6', () => 'it was aborted while the model replied'],
  abortedTools: ['L6', () => 'it was aborted while its calls ran'],
  suspended: ['D15', () => 'it is suspended, and can be resumed'],
  journalError: ['D19', ({ error }) => `its log cannot be written: ${inline(error as never, 120)}`],
  modelError: ['L7', ({ error }) => `the model failed: ${inline(error as never, 120)}`],
}

/** Why the query, or the query of an agent, has ended. */
export function tellEnd(run: Run, { actor: id }: FrameOf<'step'>, say: Say): void {
  const actor: Actor | undefined = run.actors.get(id)
  if (actor === undefined || id !== run.queryActor) return
  const [state = ''] = activeStates(run.charts.get(actor.chart), actor.active).names
  const ending = Object.hasOwn(endings, state) ? endings[state] : undefined
  if (ending === undefined) return
  const [rule, why] = ending
  const context = typeof actor.context === 'object' && actor.context !== null ? actor.context : {}
  say(rule, `${run.parentToolUseID === undefined ? 'The query' : 'The agent'} ends: ${ended(why(context as never))}`)
}

function limitWords(reached: unknown): string {
  const { limit, used, max } = (typeof reached === 'object' && reached !== null ? reached : {}) as Record<
    string,
    unknown
  >
  const numbers = typeof used === 'number' && typeof max === 'number' ? ` (${used} of ${max} used)` : ''
  return typeof limit === 'string' ? `limits.${plainText(limit)} is reached${numbers}` : 'a limit is reached'
}
