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
export function scriptWriter({ id, chunk, nextCallId }: ScriptWriterOptions) {
  let index = 0
  let isStarted = false
  let isOver = false
  let hasCalls = false

  function* start(): Generator<ModelEvent> {
    if (isStarted) return
    isStarted = true
    yield {
      type: 'message_start',
      message: { id, type: 'message', role: 'assistant', model: 'scripted', content: [], usage: zeroUsage },
    }
  }
  function* block(content_block: ContentBlock, deltas: readonly BlockDelta[], isClosed = true): Generator<ModelEvent> {
    yield* start()
    const at = index++
    yield { type: 'content_block_start', index: at, content_block }
    for (const delta of deltas) yield { type: 'content_block_delta', index: at, delta }
    if (isClosed) yield { type: 'content_block_stop', index: at }
  }
  function* end(
    stop_reason: StopReason = hasCalls ? 'tool_use' : 'end_turn',
    usage: unknown = zeroUsage,
  ): Generator<ModelEvent> {
    yield* start()
    isOver = true
    yield { type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage }
    yield { type: 'message_stop' }
  }
  const call = (name: string, json: string, callId: string | undefined, isClosed: boolean) => {
    hasCalls = true
    const head = { type: 'tool_use' as const, id: callId ?? nextCallId(), name, input: {} }
    const deltas = pieces(json, chunk).map((partial_json): BlockDelta => ({ type: 'input_json_delta', partial_json }))
    return block(head, deltas, isClosed)
  }
  const text = (words: string) =>
    block(
      { type: 'text', text: '' },
      pieces(words, chunk).map((piece) => ({ type: 'text_delta', text: piece })),
    )

  return {
    get isOver() {
      return isOver
    },
    end,
    *write(item: ScriptItem): Generator<ModelEvent> {
      if (typeof item === 'string') yield* text(item)
      else if ('text' in item) yield* text(item.text)
      else if ('thinking' in item) {
        const thoughts = pieces(item.thinking, chunk).map(
          (thinking): BlockDelta => ({ type: 'thinking_delta', thinking }),
        )
        const signature = item.signature ?? 'c2NyaXB0ZWQ='
        yield* block({ type: 'thinking', thinking: '', signature: '' }, [
          ...thoughts,
          { type: 'signature_delta', signature },
        ])
      } else if ('call' in item) yield* call(item.call, inputText(item.input), item.id, true)
      else if ('rawCall' in item) yield* call(item.rawCall, item.json, item.id, item.open !== true)
      else if ('event' in item) {
        isStarted ||= item.event.type === 'message_start'
        isOver ||= item.event.type === 'message_stop'
        yield item.event
      } else if ('stop' in item) yield* end(item.stop, item.usage)
      else if ('cut' in item) isOver = true
    },
  }
}

/** Splits by code points, so that no piece ends within a character. */
function pieces(text: string, size: number): string[] {
  const characters = [...text]
  const found: string[] = []
  for (let at = 0; at < characters.length; at += size) found.push(characters.slice(at, at + size).join(''))
  return found
}
