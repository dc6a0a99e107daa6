import type { Model, ModelEvent, ModelRequest, StopReason } from '../index.ts'

interface Pending {
  push(step: { event: unknown } | { error: unknown } | 'end'): void
}

export interface HeldModel {
  readonly model: Model
  readonly requests: ModelRequest[]
  /** Sends an event in the current reply. */
  send(...events: unknown[]): void
  start(id?: string): void
  text(text: string): void
  /** A whole call: block start, arguments, block end. */
  call(id: string, name: string, input?: unknown): void
  /** Ends the reply and its stream. */
  end(stopReason?: StopReason): void
  fail(error: unknown): void
  /** Ends the stream without ending the reply. */
  cut(): void
}

/** A model whose replies are controlled by the test. */
export function heldModel(): HeldModel {
  const requests: ModelRequest[] = []
  let pending: Pending | undefined
  let index = 0
  let replies = 0
  const model: Model = (request) => {
    requests.push(request)
    index = 0
    return stream(request.signal, (opened) => {
      pending = opened
    })
  }
  const held: HeldModel = {
    model,
    requests,
    send: (...events) => {
      for (const event of events) pending?.push({ event })
    },
    start: (id = `msg_${++replies}`) => held.send({ type: 'message_start', message: { id, model: 'held' } }),
    text: (text) => held.send(...textBlock(index++, text)),
    call: (id, name, input = {}) => held.send(...callBlock(index++, id, name, JSON.stringify(input))),
    end: (stopReason = 'end_turn') => {
      held.send({ type: 'message_delta', delta: { stop_reason: stopReason } }, { type: 'message_stop' })
      pending?.push('end')
    },
    fail: (error) => pending?.push({ error }),
    cut: () => pending?.push('end'),
  }
  return held
}

export const textBlock = (index: number, text: string): ModelEvent[] => [
  { type: 'content_block_start', index, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index, delta: { type: 'text_delta', text } },
  { type: 'content_block_stop', index },
]

export const callBlock = (index: number, id: string, name: string, json: string): ModelEvent[] => [
  { type: 'content_block_start', index, content_block: { type: 'tool_use', id, name, input: {} } },
  { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: json.slice(0, 3) } },
  { type: 'content_block_delta', index, delta: { type: 'input_json_delta', partial_json: json.slice(3) } },
  { type: 'content_block_stop', index },
]

async function* stream(signal: AbortSignal, open: (pending: Pending) => void): AsyncGenerator<ModelEvent> {
  const steps: Parameters<Pending['push']>[0][] = []
  let wake = (): void => undefined
  // one listener per stream: one per wait would accumulate
  signal.addEventListener('abort', () => wake(), { once: true })
  open({
    push: (step) => {
      steps.push(step)
      wake()
    },
  })
  for (;;) {
    while (steps.length === 0 && !signal.aborted) {
      await new Promise<void>((resolve) => {
        wake = resolve
      })
    }
    if (steps.length === 0) throw new DOMException('aborted', 'AbortError')
    const step = steps.shift()
    if (step === 'end' || step === undefined) return
    if ('error' in step) throw step.error
    yield step.event as ModelEvent
  }
}
