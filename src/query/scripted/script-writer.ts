import type { ContentBlock } from '../../messages/message.ts'
import { inputText } from '../../models/api-content.ts'
import type { BlockDelta, ModelEvent, StopReason } from '../../models/model.ts'
import type { ScriptItem } from './script.ts'

interface ScriptWriterOptions {
  readonly id: string
  readonly chunk: number
  readonly nextCallId: () => string
}

const zeroUsage = { input_tokens: 0, output_tokens: 0 }

/** Converts the items of one scripted reply to events. */
export class ScriptWriter {
  readonly #options: ScriptWriterOptions
  #index = 0
  #isStarted = false
  #isOver = false
  #hasCalls = false

  constructor(options: ScriptWriterOptions) {
    this.#options = options
  }

  get isOver(): boolean {
    return this.#isOver
  }

  *write(item: ScriptItem): Generator<ModelEvent> {
    if (typeof item === 'string') yield* this.#text(item)
    else if ('text' in item) yield* this.#text(item.text)
    else if ('thinking' in item) yield* this.#thinking(item.thinking, item.signature)
    else if ('call' in item) yield* this.#call(item.call, inputText(item.input), item.id, true)
    else if ('rawCall' in item) yield* this.#call(item.rawCall, item.json, item.id, item.open !== true)
    else if ('event' in item) {
      this.#isStarted ||= item.event.type === 'message_start'
      this.#isOver ||= item.event.type === 'message_stop'
      yield item.event
    } else if ('stop' in item) yield* this.end(item.stop, item.usage)
    else if ('cut' in item) this.#isOver = true
  }

  *end(
    stop_reason: StopReason = this.#hasCalls ? 'tool_use' : 'end_turn',
    usage: unknown = zeroUsage,
  ): Generator<ModelEvent> {
    yield* this.#start()
    this.#isOver = true
    yield { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage }
    yield { type: 'message_stop' }
  }

  *#start(): Generator<ModelEvent> {
    if (this.#isStarted) return
    this.#isStarted = true
    const { id } = this.#options
    yield {
      type: 'message_start',
      message: { id, type: 'message', role: 'assistant', model: 'scripted', content: [], usage: zeroUsage },
    }
  }

  *#block(content_block: ContentBlock, deltas: readonly BlockDelta[], isClosed = true): Generator<ModelEvent> {
    yield* this.#start()
    const at = this.#index++
    yield { type: 'content_block_start', index: at, content_block }
    for (const delta of deltas) yield { type: 'content_block_delta', index: at, delta }
    if (isClosed) yield { type: 'content_block_stop', index: at }
  }

  #call(name: string, json: string, id: string | undefined, isClosed: boolean): Generator<ModelEvent> {
    const { chunk, nextCallId } = this.#options
    this.#hasCalls = true
    const head = { type: 'tool_use' as const, id: id ?? nextCallId(), name, input: {} }
    const deltas = pieces(json, chunk).map((partial_json): BlockDelta => ({ type: 'input_json_delta', partial_json }))
    return this.#block(head, deltas, isClosed)
  }

  #text(words: string): Generator<ModelEvent> {
    const deltas = pieces(words, this.#options.chunk).map((text): BlockDelta => ({ type: 'text_delta', text }))
    return this.#block({ type: 'text', text: '' }, deltas)
  }

  #thinking(words: string, signature = 'c2NyaXB0ZWQ='): Generator<ModelEvent> {
    const thoughts = pieces(words, this.#options.chunk).map(
      (thinking): BlockDelta => ({ type: 'thinking_delta', thinking }),
    )
    return this.#block({ type: 'thinking', thinking: '', signature: '' }, [
      ...thoughts,
      { type: 'signature_delta', signature },
    ])
  }
}

/** Splits by code points, so that no piece ends within a character. */
function pieces(text: string, size: number): string[] {
  const characters = [...text]
  const found: string[] = []
  for (let at = 0; at < characters.length; at += size) found.push(characters.slice(at, at + size).join(''))
  return found
}
