import {
  type Encoded,
  type EncodedSource,
  type GuardRefusal,
  givenUp,
  whyWaiting as sentence,
} from '../../src/inspect/index.ts'
import { type Agents, agentRuns, isUnanswered, type Totals, totalsOf } from './model/conversation.ts'
import type { Call, Run, Wait } from './model/model.ts'
import type { RangeTotals } from './model/range-totals.ts'
import { plainText } from './plain-text.ts'

/** A duration for display. */
export function duration(ms: number): string {
  if (ms < 1) return '0 ms'
  // each is rounded before it is compared: 60 seconds are a minute
  if (Math.round(ms) < 1_000) return `${Math.round(ms)} ms`
  if (Math.round(ms / 100) < 600) return `${(ms / 1_000).toFixed(Math.round(ms / 10) < 1_000 ? 2 : 1)} s`
  const seconds = Math.round(ms / 1_000)
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`
}

/** An event for display: XState's name for a delay also contains its state. */
export const eventWords = (event: string): string => event.replace(/^xstate\.after\.([^.]+)\..*$/, 'after $1')

export type BackgroundStatus = NonNullable<Call['detached']>['status']

export type Tone = 'queued' | 'shared' | 'exclusive' | 'held' | 'ok' | 'error' | 'aborted' | 'unknown' | 'given-up'

/** The tone of a call, the same in every view. */
export function toneOf(call: Call): Tone {
  if (call.isGivenUp) return 'given-up'
  if (call.stage === 'queued' || call.stage === 'held') return 'queued'
  if (call.stage === 'withdrawn') return 'aborted'
  if (call.stage === 'executing') return call.lane
  if (call.stage === 'completed') return 'held'
  return outcomeOf(call)
}

/** How a call in the background is, or how it ended. */
export const backgroundTone = ({ lane }: Call, status: BackgroundStatus): Tone =>
  status === 'running' ? lane : backgroundTones[status]

const backgroundTones: Readonly<Record<Exclude<BackgroundStatus, 'running'>, Tone>> = {
  stopping: 'aborted',
  finished: 'ok',
  failed: 'error',
  stopped: 'aborted',
  unknown: 'unknown',
}

export function outcomeOf(call: Call): Tone {
  if (call.ending?.by === 'abort') return 'aborted'
  if (call.ending?.by === 'unknown') return 'unknown'
  return call.results.some(({ isError }) => isError) ? 'error' : 'ok'
}

/** Its result was in the log of the session. */
export const isFromLog = (call: Call): boolean => call.ending?.by === 'journal'

/** The tone of a call in words. */
export const stateWords = (call: Call): string => `${toneWords[toneOf(call)]}${isFromLog(call) ? ', from the log' : ''}`

export const toneWords: Readonly<Record<Tone, string>> = {
  queued: 'waits',
  shared: 'runs, shared',
  exclusive: 'runs alone',
  held: 'finished, held for order',
  ok: 'handed over',
  error: 'handed over, an error',
  aborted: 'stopped',
  unknown: 'outcome unknown: it may or may not have taken effect',
  'given-up': givenUp.short,
}

/** The executor's reason as a sentence, the same as on the command line. */
export function whyWaiting(run: Run, { key, ...wait }: Pick<Wait, 'because' | 'blockers' | 'key'>): string {
  return sentence(
    { ...wait, ...(key !== undefined && { key }) },
    {
      maxConcurrency: run.maxConcurrency,
      isInQuery: run.queryActor !== undefined,
      nameOf: (id) => nameOf(run.byId.get(id)),
    },
  )
}

const deciders: Readonly<Record<EncodedSource['by'], (name: string) => string>> = {
  rule: (name) => `by the rule ${name}`,
  mode: (name) => `by the mode ${name}`,
  hook: (name) => (name === '' ? 'by a hook' : `by the hook ${name}`),
  tool: () => 'by the tool itself',
  host: () => 'by the host, or the person it asked',
  loop: (name) => `because it repeats itself (${name})`,
}

const askers: Readonly<Record<EncodedSource['by'], (name: string) => string>> = {
  rule: (name) => `because of the rule ${name}`,
  mode: (name) => `because the mode is ${name}`,
  hook: (name) => (name === '' ? 'because a hook requires a question' : `because the hook ${name} requires a question`),
  tool: () => 'because the tool requires a question',
  host: () => 'because the host requires a question',
  loop: (name) => `because it repeats itself: the same input had the same result ${name} in a row`,
}

/** Why a question is asked. */
export const askedWords = ({ by, name = '' }: EncodedSource): string => askers[by]?.(name) ?? `because of ${by}`

/** What decided, as the end of a sentence. */
export const sourceWords = ({ by, name = '' }: EncodedSource): string => deciders[by]?.(name) ?? `by ${by}`

/** Which call a guard refused, and why. */
export const refusalWords = (run: Run, { call, ...refusal }: GuardRefusal): string =>
  `${nameOf(run.byId.get(call)) ?? call} ${whyWaiting(run, refusal)}`

/** A call's short name. */
const nameOf = (call: Call | undefined): string | undefined => call && `#${call.index + 1} ${call.name}`

/** Tokens for display: `9.1k tok`. */
const tokenWords = (tokens: number): string =>
  tokens >= 1_000_000
    ? `${(tokens / 1_000_000).toFixed(1)}M tok`
    : tokens >= 1_000
      ? `${(tokens / 1_000).toFixed(1)}k tok`
      : `${tokens} tok`

export const costWords = (usd: number): string => `$${usd.toFixed(usd < 0.1 ? 3 : 2)}`

/** The tokens and the cost of replies. */
export const replyWords = ({ tokens, costUsd = 0 }: Totals): string =>
  [...(tokens === 0 ? [] : [tokenWords(tokens)]), ...(costUsd === 0 ? [] : [costWords(costUsd)])].join(' · ')

/** Several turns together. */
export function totalsWords(totals: Totals, turns: number): string {
  const { calls, tokens, cached } = totals
  const share = tokens > 0 && cached > 0 ? ` (${Math.round((cached / tokens) * 100)}\u00a0% cached)` : ''
  const [spent, ...cost] = replyWords(totals).split(' · ')
  return [
    turns === 1 ? 'one turn' : `${turns} turns`,
    calls === 1 ? 'one call' : `${calls} calls`,
    ...(spent === undefined || spent === '' ? [] : [`${spent}${share}`]),
    ...cost,
  ].join(' · ')
}

/** The turns, calls, tokens, cost and time of an agent, with those of the agents that it started. */
export function agentWords(runs: readonly Run[], agents: Agents): string {
  const inner = agentRuns(runs, agents)
  const spent = (runs.at(-1)?.said.at(-1)?.until ?? 0) - (runs[0]?.startedAt ?? 0)
  const words = totalsWords(
    totalsOf([...runs, ...inner]),
    [...runs, ...inner].filter((run) => !isUnanswered(run)).length,
  )
  return spent > 0 ? `${words} · ${duration(spent)}` : words
}

/** What happened between two moments, in one line. */
export function rangeWords({ ms, started, ended, failed, aborts, refusals, tokens, costUsd }: RangeTotals): string {
  const spent = replyWords({ calls: 0, tokens, cached: 0, costUsd })
  return [
    `Selected time: ${duration(ms)}`,
    `${count(started, 'call')} started`,
    `${count(ended, 'call')} ended${failed === 0 ? '' : ` (${failed} failed or stopped)`}`,
    ...(refusals === 0 ? [] : [count(refusals, 'refusal')]),
    ...(aborts === 0 ? [] : [count(aborts, 'abort')]),
    ...(spent === '' ? [] : [spent]),
  ].join(' · ')
}

/** A number of things, such as `3 calls`. */
export const count = (many: number, what: string): string => (many === 1 ? `1 ${what}` : `${many} ${what}s`)

/** Any text as the end of a sentence. */
export const ended = (text: string): string => (/[.!?…]$/.test(text) ? text : `${text}.`)

/** Any encoded value on one line. */
export function inline(value: Encoded | undefined, most = 200): string {
  const text = write(value, 0)
  return plainText(text.length > most ? `${text.slice(0, most)}…` : text)
}

function write(value: Encoded | undefined, depth: number): string {
  if (value === undefined) return ''
  if (typeof value === 'string') return depth === 0 ? value : JSON.stringify(value)
  if (typeof value !== 'object' || value === null) return String(value)
  if (depth > 6) return '…'
  if (Array.isArray(value))
    return `[${value
      .slice(0, 20)
      .map((each) => write(each, depth + 1))
      .join(', ')}]`
  const object = value as { readonly [key: string]: Encoded }
  if (typeof object.$ === 'string') return tagged(object, depth)
  const fields = Object.entries(object).slice(0, 20)
  if (fields.length === 0) return depth === 0 ? '' : '{}'
  return `{ ${fields.map(([key, each]) => `${key}: ${write(each, depth + 1)}`).join(', ')} }`
}

/** Text for values that JSON cannot express. */
export function tagged(value: { readonly [key: string]: Encoded }, depth = 0): string {
  const { $: kind, text, name, message, id, length } = value
  switch (kind) {
    case 'undefined':
      return 'undefined'
    case 'text':
      return `${String(text)}… (${String(length)} characters)`
    case 'call':
      return `call ${String(id)}`
    case 'actor':
      return `actor ${String(id)}`
    case 'schedule':
      return '(schedule)'
    case 'error':
      return `${String(name)}: ${write(message, 0)}`
    case 'function':
      return `ƒ ${write(name, 0)}`
    case 'bytes':
      return `${String(name)} of ${String(length)} bytes`
    case 'date':
      return dateOf(Number(text))
    case 'signal':
      return value.aborted === true ? `signal, aborted: ${write(value.reason, depth + 1)}` : 'signal'
    case 'forgotten':
      return '(no longer kept)'
    case 'withheld':
      return '(withheld)'
    case 'map':
      return `Map ${write(value.entries, depth + 1)}`
    case 'set':
      return `Set ${write(value.items, depth + 1)}`
    case 'list':
      return `${write(value.items, depth + 1)} of ${String(length)}`
    case 'instance':
      return `${String(name)} ${write(value.fields, depth + 1)}`
    case 'object':
      return write(value.fields, depth + 1)
    default:
      return text === undefined ? `(${String(kind)})` : write(text, depth)
  }
}

const dateOf = (time: number): string => (Math.abs(time) <= 8.64e15 ? new Date(time).toISOString() : 'Invalid Date')
