import { type Clock, platformClock } from '../../base/clock.ts'
import { SignalboxError } from '../../base/signalbox-error.ts'
import { eventStream } from '../../models/event-stream.ts'
import type { Model, ModelEvent, ModelRequest } from '../../models/model.ts'
import { pause } from './pause.ts'
import type { ScriptItem, ScriptTurn } from './script.ts'
import { scriptWriter } from './script-writer.ts'

export interface ScriptedModelOptions {
  /** What `wait` and `pace` go by. @default the platform's timers */
  readonly clock?: Clock | undefined
  /** How many characters a piece of text or of arguments has. @default 16 */
  readonly chunk?: number | undefined
  /** Milliseconds before each piece, for an audience. @default 0 */
  readonly pace?: number | undefined
}

/** A model, and what it was asked. */
export type ScriptedModel = Model & { readonly requests: readonly ModelRequest[] }

/**
 * A model that replies from a script: one turn per request. Asked once more than it has turns, it throws.
 *
 * @example
 * const model = scriptedModel([['Let me see.', { call: 'Read', input: { path: 'a.ts' } }], 'It says hello.'])
 */
export function scriptedModel(
  turns: readonly ScriptTurn[],
  { clock = platformClock, chunk = 16, pace = 0 }: ScriptedModelOptions = {},
): ScriptedModel {
  if (!Array.isArray(turns)) throw new SignalboxError('invalid_option', 'scriptedModel takes an array of turns.')
  if (!(chunk >= 1)) throw new SignalboxError('invalid_option', `chunk has to be a number from 1 on, not ${chunk}.`)
  const requests: ModelRequest[] = []
  const nextCallId = counter('toolu_')

  async function* play(request: ModelRequest, at: number, stopped: AbortSignal): AsyncGenerator<ModelEvent> {
    const turn = turns[at]
    if (turn === undefined) throw scriptIsOver(turns.length)
    const items = typeof turn === 'function' ? await turn(request) : turn
    const writer = scriptWriter({ id: `msg_${at + 1}`, chunk, nextCallId })
    for (const item of typeof items === 'string' ? [items] : items) {
      if (stopped.aborted) return
      if (waitOf(item) > 0) await pause(clock, waitOf(item), stopped)
      for (const event of writer.write(item)) {
        if (pace > 0 && event.type === 'content_block_delta') await pause(clock, pace, stopped)
        yield event
      }
      if (typeof item === 'object' && 'error' in item) throw item.error
      if (writer.isOver) return
    }
    yield* writer.end()
  }

  const model: Model = (request) => {
    const at = requests.push({ ...request, messages: [...request.messages] }) - 1
    return eventStream({ open: (stopped) => play(request, at, stopped), signal: request.signal })
  }
  return Object.assign(model, { requests })
}

const scriptIsOver = (turns: number): SignalboxError =>
  new SignalboxError('invalid_option', `The script is over: it has ${turns} turns, and one more was asked for.`)

const waitOf = (item: ScriptItem): number => (typeof item === 'object' && 'wait' in item ? item.wait : 0)

function counter(prefix: string): () => string {
  let n = 0
  return () => `${prefix}${++n}`
}
