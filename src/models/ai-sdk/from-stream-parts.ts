import { approvalStop } from '../approvals.ts'
import { errorParts } from '../classify-model-error.ts'
import { eventStream, type ItemSource, type Translator } from '../event-stream.ts'
import type { ModelEvent, StopReason } from '../model.ts'
import { asRecord, asText } from '../read-event.ts'
import type { ReplyWriter } from '../reply-writer.ts'
import { replyId } from '../service-ids.ts'
import { aiSdkUsage } from '../usage.ts'
import { anthropicEnding, isMessageStart } from './anthropic-options.ts'
import { partBlocks } from './part-blocks.ts'
import { type RawStop, rawStop } from './raw-stop.ts'

/** Converts stream parts of an AI SDK language model (v2 to v4) to events of the Messages API. */
export const fromStreamParts = (source: ItemSource, { tools }: StreamPartOptions = {}): AsyncIterable<ModelEvent> =>
  eventStream({ open: () => source, translate: (writer) => streamPartTranslator(writer, tools) })

export interface StreamPartOptions {
  /** The tools that the model was given. A call of another tool may be the provider's own, so it waits until the provider says so. */
  readonly tools?: readonly { readonly name: string }[] | undefined
}

const stopReasons: Readonly<Record<string, StopReason>> = { length: 'max_tokens', 'content-filter': 'refusal' }

/** Reasons that the unified ones do not distinguish, by the service's own name. */
const ownReasons = new Set(['pause_turn', 'refusal', 'model_context_window_exceeded', 'stop_sequence'])

export function streamPartTranslator(writer: ReplyWriter, tools?: StreamPartOptions['tools']): Translator {
  const blocks = partBlocks(writer, tools && new Set(tools.map(({ name }) => name)))
  let told: RawStop | undefined

  const fail = (error: unknown) => {
    const { type, message } = errorParts(error)
    writer.fail(type, message)
  }
  const finish = ({ finishReason, usage, providerMetadata }: Record<string, unknown>) => {
    // a plain word in v2, with the service's own word beside it since v3
    const { unified = finishReason, raw } = asRecord(finishReason) ?? {}
    close(unified, raw, aiSdkUsage(usage), providerMetadata)
  }
  const close = (unified: unknown, raw: unknown, usage: RawStop['usage'], providerMetadata?: unknown) => {
    blocks.finish(Object.hasOwn(stopReasons, String(unified)))
    // not every provider reports the service's own reason
    if (unified === 'error' || raw === 'error') return fail(brokenOff)
    const stop_reason = stopReason(asText(unified) ?? 'unknown', raw)
    writer.stop({ stop_reason, stop_sequence: null, ...anthropicEnding(providerMetadata) }, usage)
    writer.end()
  }
  const stopReason = (unified: string, raw: unknown): StopReason => {
    if (typeof raw === 'string' && ownReasons.has(raw)) return raw
    const known = stopReasons[unified]
    if (known !== undefined) return known
    if (blocks.calls > 0) return 'tool_use'
    if (blocks.isApprovalWanted) return approvalStop
    return unified === 'stop' || unified === 'tool-calls' ? 'end_turn' : unified
  }

  const handlers: Readonly<Record<string, (part: Record<string, unknown>) => void>> = {
    'response-metadata': ({ id, modelId }) =>
      writer.start({ id: replyId(id), ...(asText(modelId) && { model: modelId }) }),
    'text-start': blocks.words.start,
    'text-delta': blocks.words.delta,
    'text-end': blocks.words.end,
    'reasoning-start': blocks.words.start,
    'reasoning-delta': blocks.words.delta,
    'reasoning-end': blocks.words.end,
    'tool-input-start': blocks.input.start,
    'tool-input-delta': blocks.input.delta,
    'tool-input-end': blocks.input.end,
    'tool-call': blocks.call,
    'tool-result': blocks.result,
    'tool-approval-request': blocks.approval,
    file: blocks.whole,
    'reasoning-file': blocks.whole,
    custom: (part) => (isMessageStart(part) ? writer.ping() : blocks.whole(part)),
    finish,
    error: ({ error }) => fail(error),
    ping: () => writer.ping(),
    raw({ rawValue }) {
      told = rawStop(rawValue, told)
    },
  }

  return {
    get isAnnounced() {
      return told !== undefined
    },
    take(item) {
      const part = asRecord(item)
      const type = part?.type
      if (part !== undefined && typeof type === 'string' && Object.hasOwn(handlers, type)) handlers[type]?.(part)
    },
    end() {
      if (told !== undefined && !writer.isOver) close(told.unified, told.raw, told.usage)
    },
  }
}

const brokenOff = { type: 'server_error', message: 'The model stopped because of an error.' }
