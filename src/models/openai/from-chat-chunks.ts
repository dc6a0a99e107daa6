import { errorParts } from '../classify-model-error.ts'
import { eventStream, type ItemSource, type Translator } from '../event-stream.ts'
import type { ModelEvent, StopReason } from '../model.ts'
import { asIndex, asList, asRecord, asText } from '../read-event.ts'
import type { ReplyWriter } from '../reply-writer.ts'
import { replyId } from '../service-ids.ts'
import { openaiUsage } from '../usage.ts'
import { chatCalls } from './chat-calls.ts'
import { chatWords } from './chat-words.ts'

export interface TranslationOptions {
  /** The tools that the model was given. A call of `parallel` is split into its calls if there is no such tool. */
  readonly tools?: readonly { readonly name: string }[] | undefined
  /**
   * The model was also given tools that run at the service. A call of a custom tool that is not in `tools` then counts as
   * run by the service (Responses API).
   * @default false
   */
  readonly hasServiceTools?: boolean | undefined
}

/** Converts chunks of Chat Completions to events of the Messages API. */
export const fromChatChunks = (source: ItemSource, { tools }: TranslationOptions = {}): AsyncIterable<ModelEvent> =>
  eventStream({ open: () => source, translate: (writer) => chatTranslator(writer, tools) })

/** The reply was cut off: its last call may lack arguments. */
const cutReasons: Readonly<Record<string, StopReason>> = { length: 'max_tokens', content_filter: 'refusal' }
const plainReasons = new Set(['stop', 'tool_calls', 'function_call'])

export function chatTranslator(writer: ReplyWriter, tools: TranslationOptions['tools']): Translator {
  const calls = chatCalls(writer, tools && new Set(tools.map(({ name }) => name)))
  const words = chatWords(writer, calls.settle)
  let isRefused = false
  let isEmpty = true
  /** Some services count in every chunk but the last. */
  let usageSoFar: Record<string, unknown> | undefined

  const takeDelta = (delta: Record<string, unknown>) => {
    isEmpty = false
    words.take(delta)
    const refusal = asText(delta.refusal)
    words.say(refusal)
    isRefused ||= refusal !== undefined
    for (const piece of asList(delta.tool_calls)) {
      if (asRecord(piece) !== undefined) calls.take(piece as Record<string, unknown>, words.close)
    }
  }

  const finish = (reason: string, usage: Record<string, unknown> | undefined) => {
    words.close()
    calls.finish(Object.hasOwn(cutReasons, reason))
    writer.stop({ stop_reason: stopReason(reason), stop_sequence: null }, usage ?? usageSoFar)
    // most services send the usage after the stop reason
    if (usage !== undefined) writer.end()
  }
  const stopReason = (reason: string): StopReason => {
    if (isRefused) return 'refusal'
    const known = cutReasons[reason]
    if (known !== undefined) return known
    if (calls.count > 0) return 'tool_use'
    return plainReasons.has(reason) ? 'end_turn' : reason
  }
  const fail = (error: unknown) => {
    const { type, message } = errorParts(error)
    writer.fail(type, message)
  }

  return {
    take(item) {
      const chunk = asRecord(item)
      if (chunk === undefined) return
      if (asRecord(chunk.error) !== undefined) return fail(chunk.error)
      const usage = openaiUsage(chunk.usage)
      if (writer.isComplete) {
        if (usage === undefined) return
        writer.stop({}, usage)
        return writer.end()
      }
      usageSoFar = usage ?? usageSoFar
      const choice = asList(chunk.choices)
        .map(asRecord)
        .find((each) => (asIndex(each?.index) ?? 0) === 0)
      if (choice === undefined) return
      if (!writer.isStarted) writer.start({ id: replyId(chunk.id), model: chunk.model })
      // a service that does not stream sends the whole message at once
      const delta = asRecord(choice.delta) ?? (isEmpty ? asRecord(choice.message) : undefined)
      if (delta !== undefined) takeDelta(delta)
      const reason = asText(choice.finish_reason)
      if (reason === 'error') fail(asRecord(choice.error) ?? brokenOff)
      else if (reason !== undefined) finish(reason, usage)
    },
    end() {
      if (writer.isComplete) writer.end()
    },
  }
}

const brokenOff = { type: 'server_error', message: 'The service ended the reply because of an error.' }
