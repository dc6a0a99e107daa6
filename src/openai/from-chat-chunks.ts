import { errorParts } from '../model/error-event.ts'
import { eventStream, type ItemSource, type Translator } from '../model/event-stream.ts'
import { keepData } from '../model/kept-data.ts'
import type { ModelEvent, StopReason } from '../model/model.ts'
import { asIndex, asList, asRecord, asText } from '../model/read-event.ts'
import { replyId } from '../model/reply-id.ts'
import type { ReplyWriter } from '../model/reply-writer.ts'
import { chatCalls } from './chat-calls.ts'
import { openaiUsage } from './openai-usage.ts'

export interface TranslationOptions {
  /** The tools that the model was given: what it calls `parallel` without having such a tool is taken apart. */
  readonly tools?: readonly { readonly name: string }[] | undefined
}

/** Chunks of Chat Completions as events of the Messages API. */
export const fromChatChunks = (source: ItemSource, { tools }: TranslationOptions = {}): AsyncIterable<ModelEvent> =>
  eventStream({ open: () => source, translate: (writer) => chatTranslator(writer, tools) })

const stopReasons: Readonly<Record<string, StopReason>> = { length: 'max_tokens', content_filter: 'refusal' }
const plainReasons = new Set(['stop', 'tool_calls', 'function_call'])

export function chatTranslator(writer: ReplyWriter, tools: TranslationOptions['tools']): Translator {
  const calls = chatCalls(writer, tools && new Set(tools.map(({ name }) => name)))
  let words: { readonly kind: 'text' | 'thinking'; readonly field: string; readonly block: number } | undefined
  let usage: Record<string, unknown> | undefined
  let isRefused = false

  const closeWords = () => {
    if (words === undefined) return
    const { kind, field, block } = words
    words = undefined
    const signature = kind === 'thinking' ? keepData('openai_chat', { field }) : undefined
    if (signature !== undefined) writer.delta(block, { type: 'signature_delta', signature })
    writer.close(block)
  }
  const speak = (kind: 'text' | 'thinking', field: string, text: string) => {
    if (words?.kind !== kind) {
      closeWords()
      calls.settle()
      const block = kind === 'text' ? { type: 'text', text: '' } : { type: 'thinking', thinking: '', signature: '' }
      words = { kind, field, block: writer.open(block) }
    }
    writer.delta(
      words.block,
      kind === 'text' ? { type: 'text_delta', text } : { type: 'thinking_delta', thinking: text },
    )
  }

  const takeDelta = (delta: Record<string, unknown>) => {
    for (const field of ['reasoning_content', 'reasoning']) {
      const thinking = asText(delta[field])
      if (thinking !== undefined) {
        speak('thinking', field, thinking)
        break
      }
    }
    const text = typeof delta.content === 'string' ? delta.content : textOfParts(delta.content)
    if (text !== '') speak('text', 'content', text)
    const refusal = asText(delta.refusal)
    if (refusal !== undefined) speak('text', 'content', refusal)
    isRefused ||= refusal !== undefined
    for (const piece of asList(delta.tool_calls)) {
      if (asRecord(piece) !== undefined) calls.take(piece as Record<string, unknown>, closeWords)
    }
  }

  const finish = (reason: string) => {
    closeWords()
    calls.finish()
    writer.stop({ stop_reason: stopReason(reason), stop_sequence: null }, usage)
    // most services send the usage after the reason
    if (usage !== undefined) writer.end()
  }
  const stopReason = (reason: string): StopReason => {
    if (isRefused) return 'refusal'
    const known = stopReasons[reason]
    if (known !== undefined) return known
    if (calls.count > 0) return 'tool_use'
    return plainReasons.has(reason) ? 'end_turn' : reason
  }

  return {
    take(item) {
      const chunk = asRecord(item)
      if (chunk === undefined) return
      if (asRecord(chunk.error) !== undefined) {
        const { type, message } = errorParts(chunk.error)
        return writer.fail(type, message)
      }
      const latest = openaiUsage(chunk.usage)
      usage = latest ?? usage
      if (writer.isComplete) {
        if (latest === undefined) return
        writer.stop({}, latest)
        return writer.end()
      }
      const choice = asList(chunk.choices)
        .map(asRecord)
        .find((each) => (asIndex(each?.index) ?? 0) === 0)
      if (choice === undefined) return
      if (!writer.isStarted) writer.start({ id: replyId(chunk.id), model: chunk.model })
      const delta = asRecord(choice.delta)
      if (delta !== undefined) takeDelta(delta)
      const reason = asText(choice.finish_reason)
      if (reason !== undefined) finish(reason)
    },
    end() {
      if (writer.isComplete) writer.end()
    },
  }
}

/** Some services send content as parts. */
const textOfParts = (content: unknown): string =>
  asList(content)
    .map((part) => asRecord(part))
    .flatMap((part) => (part?.type === 'text' ? (asText(part.text) ?? []) : []))
    .join('')
