import { approvalStop } from '../approvals.ts'
import { errorParts } from '../classify-model-error.ts'
import { eventStream, type ItemSource, type Translator } from '../event-stream.ts'
import type { ModelEvent, StopReason } from '../model.ts'
import { asList, asRecord, asText } from '../read-event.ts'
import type { ReplyWriter } from '../reply-writer.ts'
import { openaiUsage } from '../usage.ts'
import type { TranslationOptions } from './from-chat-chunks.ts'
import { responseItems } from './response-items.ts'

/** Converts events of the Responses API to events of the Messages API. */
export const fromResponsesEvents = (source: ItemSource, options: TranslationOptions = {}): AsyncIterable<ModelEvent> =>
  eventStream({ open: () => source, translate: (writer) => responsesTranslator(writer, options) })

const incompleteReasons: Readonly<Record<string, StopReason>> = {
  max_output_tokens: 'max_tokens',
  max_tokens: 'max_tokens',
  content_filter: 'refusal',
}

export function responsesTranslator(writer: ReplyWriter, options: TranslationOptions): Translator {
  const items = responseItems(writer, options)

  const start = ({ response }: Record<string, unknown>) => {
    const { id, model } = asRecord(response) ?? {}
    writer.start({ id, model })
  }
  const finish = (event: Record<string, unknown>) => {
    const response = asRecord(event.response) ?? {}
    start(event)
    if (response.status === 'failed' || response.status === 'cancelled') return fail(response.error ?? brokenOff)
    // a service may send only the complete response
    if (!items.isAnySeen)
      for (const [at, item] of asList(response.output).entries()) items.done({ item, output_index: at })
    items.finish(response.status === 'incomplete')
    writer.stop({ stop_reason: stopReason(response), stop_sequence: null }, openaiUsage(response.usage))
    writer.end()
  }
  const stopReason = (response: Record<string, unknown>): StopReason => {
    const reason = asText(asRecord(response.incomplete_details)?.reason)
    if (reason !== undefined) return incompleteReasons[reason] ?? reason
    if (response.status === 'incomplete') return 'max_tokens'
    if (items.isRefused) return 'refusal'
    if (items.calls > 0) return 'tool_use'
    return items.isApprovalWanted ? approvalStop : 'end_turn'
  }
  const fail = (error: unknown) => {
    const { type, message } = errorParts(error)
    writer.fail(type, message)
  }

  const handlers: Readonly<Record<string, (event: Record<string, unknown>) => void>> = {
    'response.created': start,
    'response.in_progress': start,
    'response.output_item.added': items.added,
    'response.output_item.done': items.done,
    'response.function_call_arguments.delta': (event) => items.input(event, asText(event.delta)),
    'response.function_call_arguments.done': (event) => items.inputDone(event, asText(event.arguments)),
    'response.custom_tool_call_input.delta': (event) => items.input(event, asText(event.delta)),
    'response.custom_tool_call_input.done': (event) => items.inputDone(event, asText(event.input)),
    'response.output_text.delta': (event) => items.text(event, asText(event.delta)),
    'response.output_text.done': (event) => items.textDone(event, asText(event.text)),
    'response.refusal.delta': (event) => items.refusal(event, asText(event.delta)),
    'response.refusal.done': (event) => items.refusalDone(event, asText(event.refusal)),
    'response.reasoning_summary_text.delta': (event) => items.thinking(event, asText(event.delta)),
    'response.reasoning_text.delta': (event) => items.thinking(event, asText(event.delta)),
    'response.completed': finish,
    'response.incomplete': finish,
    'response.failed': (event) => fail(asRecord(event.response)?.error ?? brokenOff),
    error: (event) => fail(asRecord(event.error) ?? event),
  }

  return {
    take(given) {
      const event = asRecord(given)
      const type = event?.type
      if (event !== undefined && typeof type === 'string' && Object.hasOwn(handlers, type)) handlers[type]?.(event)
    },
  }
}

const brokenOff = { type: 'server_error', message: 'The service gave up on its response and did not say why.' }
