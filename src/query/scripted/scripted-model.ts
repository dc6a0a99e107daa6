import { type Clock, clearTimer, platformClock } from '../../base/clock.ts'
import { invalidOption } from '../../base/invalid-option.ts'
import { aNumberFrom, checkOption } from '../../base/option-rules.ts'
import { SignalboxError } from '../../base/signalbox-error.ts'
import { eventStream } from '../../models/event-stream.ts'
import type { Model, ModelEvent, ModelRequest } from '../../models/model.ts'
import type { ScriptItem, ScriptTurn } from './script.ts'
import { ScriptWriter } from './script-writer.ts'

export interface ScriptedModelOptions {
  /** The clock for `wait` and `pace`. @default the platform's timers */
  readonly clock?: Clock | undefined
  /** The number of characters per piece of text or arguments. @default 16 */
  readonly chunk?: number | undefined
  /** Milliseconds before each piece, for demos. @default 0 */
  readonly pace?: number | undefined
}

/** A model, with the requests that it received. */
export type ScriptedModel = Model & { readonly requests: readonly ModelRequest[] }

/**
 * A model that replies from a script, with one turn per request. Throws when it has no turns left.
 *
 * @example
 * const model = scriptedModel([['Let me see.', { call: 'Read', input: { path: 'a.ts' } }], 'It says hello.'])
 */
export function scriptedModel(
  turns: readonly ScriptTurn[],
  { clock = platformClock, chunk = 16, pace = 0 }: ScriptedModelOptions = {},
): ScriptedModel {
  if (!Array.isArray(turns)) invalidOption('turns', 'an array of turns', turns)
  checkOption('chunk', chunk, aNumberFrom(1))
  const requests: ModelRequest[] = []
  const nextCallId = counter('toolu_')

  async function* play(request: ModelRequest, at: number, stopped: AbortSignal): AsyncGenerator<ModelEvent> {
    const turn = turns[at]
    if (turn === undefined) throw scriptIsOver(turns.length)
    const items = typeof turn === 'function' ? await turn(request) : turn
    const writer = new ScriptWriter({ id: `msg_${at + 1}`, chunk, nextCallId })
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
  new SignalboxError(
    'invalid_option',
    `The script has ended: it has ${turns} turns, and the model was asked once more. Add a turn.`,
  )

const waitOf = (item: ScriptItem): number => (typeof item === 'object' && 'wait' in item ? item.wait : 0)

function counter(prefix: string): () => string {
  let n = 0
  return () => `${prefix}${++n}`
}

/** Waits on this clock, until the time is over or the signal aborts. */
function pause(clock: Clock, ms: number, stopped: AbortSignal): Promise<void> {
  if (stopped.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const end = () => {
      clearTimer(clock, timer)
      stopped.removeEventListener('abort', end)
      resolve()
    }
    const timer = clock.setTimeout(end, ms)
    stopped.addEventListener('abort', end)
  })
}
