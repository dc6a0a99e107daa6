import type { Encoded } from '../../../src/inspect/index.ts'
import { outcomeOf } from '../words.ts'
import { turnNumbers, turnsOf } from './conversation.ts'
import type { Call, Model, Run } from './model.ts'

export type Outcome = 'any' | 'ok' | 'error' | 'stopped' | 'denied' | 'retried' | 'asked' | 'unfinished'

export interface Wanted {
  readonly text: string
  readonly tool: string
  readonly outcome: Outcome
  readonly where: 'everywhere' | 'main' | 'agents'
}

export interface Found {
  readonly run: Run
  /** Undefined: something that was said, or a whole turn. */
  readonly call: Call | undefined
  readonly isTurn: boolean
  readonly snippet: string
  readonly seq: number
}

const most = 200

/** Calls, texts and turns of every run that fit, in order; turns that are asked for by their number come first. */
export function findCalls(model: Model, wanted: Wanted): { found: Found[]; count: number } {
  const text = wanted.text.trim().toLowerCase()
  const found: Found[] = []
  const turns = wanted.tool === '' && wanted.outcome === 'any' ? findTurns(model, text, wanted.where) : []
  let count = turns.length
  const add = (each: Found): void => {
    count++
    if (found.length < most) found.push(each)
  }
  for (const run of model.runs.values()) {
    const isAgent = run.parentToolUseID !== undefined
    if (wanted.where !== 'everywhere' && (wanted.where === 'agents') !== isAgent) continue
    if (text !== '' && wanted.tool === '' && wanted.outcome === 'any') {
      for (const { text: said, seq } of run.said) {
        const at = said.toLowerCase().indexOf(text)
        if (at >= 0) add({ run, call: undefined, isTurn: false, snippet: around(said, at), seq })
      }
    }
    for (const call of run.calls) {
      if (wanted.tool !== '' && call.name !== wanted.tool) continue
      if (!isOutcome(run, call, wanted.outcome)) continue
      const snippet = text === '' ? '' : snippetIn(call, text)
      if (snippet !== undefined) add({ run, call, isTurn: false, snippet, seq: call.seq })
    }
  }
  return { found: [...turns, ...found.sort((a, b) => a.seq - b.seq)], count }
}

/** Turns whose number begins like that of `turn 15`, the exact one first; and turns of agents with this title. */
function findTurns(model: Model, text: string, where: Wanted['where']): Found[] {
  const number = /^turn\s*(\d+)$/.exec(text)?.[1]
  if (number === undefined) return []
  const turns = where === 'agents' ? [] : turnsOf(model)
  const numbers = turnNumbers(turns)
  const own = turns.flatMap((run, at): Found[] => {
    const found = String(numbers[at] ?? '')
    return found.startsWith(number) ? [{ run, call: undefined, isTurn: true, snippet: `Turn ${found}`, seq: 0 }] : []
  })
  const inner =
    where === 'main' ? [] : [...model.runs.values()].filter(({ parentToolUseID }) => parentToolUseID !== undefined)
  const ofAgents = inner
    .filter(({ title }) => title.toLowerCase().endsWith(text))
    .map((run): Found => ({ run, call: undefined, isTurn: true, snippet: run.title, seq: 0 }))
  // a shorter number is the exact one
  return [...own.sort((a, b) => a.snippet.length - b.snippet.length), ...ofAgents].slice(0, most)
}

/** The names of the tools that were called. */
export const toolsIn = ({ runs }: Model): string[] =>
  [...new Set([...runs.values()].flatMap(({ calls }) => calls.map(({ name }) => name)))].sort()

function isOutcome(run: Run, call: Call, outcome: Outcome): boolean {
  const isOver = call.stage === 'completed' || call.stage === 'yielded'
  switch (outcome) {
    case 'any':
      return true
    case 'unfinished':
      return !isOver
    case 'denied':
      return call.decision?.behavior === 'deny'
    case 'retried':
      return call.failures.some(({ backoffMs }) => backoffMs !== null)
    case 'asked':
      return call.asked !== undefined || run.questions.some((asked) => asked.call === call.id)
    default:
      return isOver && outcomeOf(call) === (outcome === 'stopped' ? 'aborted' : outcome)
  }
}

/** Searches id, label, input, results and errors. Undefined if the call does not fit. */
function snippetIn(call: Call, text: string): string | undefined {
  if (call.id.toLowerCase().includes(text)) return call.id
  if (call.label.toLowerCase().includes(text)) return ''
  for (const value of [
    call.input,
    ...call.results.map(({ content }) => content),
    ...call.failures.map((f) => f.error),
  ]) {
    const found = textIn(value, text)
    if (found !== undefined) return found
  }
  return undefined
}

function textIn(value: Encoded, text: string): string | undefined {
  if (typeof value === 'string') {
    const at = value.toLowerCase().indexOf(text)
    return at < 0 ? undefined : around(value, at)
  }
  if (typeof value !== 'object' || value === null) return String(value) === text ? text : undefined
  for (const [key, each] of Object.entries(value)) {
    const found = key === '$' ? undefined : textIn(each, text)
    if (found !== undefined) return found
  }
  return undefined
}

const around = (text: string, at: number): string =>
  `${at > 30 ? '…' : ''}${text.slice(Math.max(0, at - 30), at + 70)}`.replace(/\s+/g, ' ')
