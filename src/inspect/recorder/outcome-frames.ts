import type { CallRecord, Ending, StopCause } from '../../../machines/index.ts'
import type { Message } from '../../messages/message.ts'
import type { Place } from '../../pipeline/body-link.ts'
import type { AbortFrame, EndingFrame, PlaceFrame, ResultFrame } from '../frames/frame.ts'
import type { Show, Where } from '../frames/redact.ts'
import { asText } from './call-frames.ts'

export const endingOf = (context: unknown): Ending | undefined => (context as { ending?: Ending } | undefined)?.ending

export function endingFrame({ id }: CallRecord, ending: Ending): EndingFrame {
  if (ending.by !== 'abort') return { type: 'ending', call: id, by: ending.by, kind: null, reached: null }
  return { type: 'ending', call: id, by: 'abort', kind: ending.cause.kind, reached: ending.reached }
}

export const placeFrame = (show: Show, call: string, place: Place): PlaceFrame => ({
  type: 'place',
  call,
  place: place.place,
  worker: 'worker' in place ? asText(show(place.worker, { what: 'worker' })) : null,
  waiting: place.place === 'sent' ? (place.waiting ?? null) : null,
})

export function abortFrame(
  show: Show,
  arrival: Omit<AbortFrame, 'type' | 'call' | 'cause'>,
  call: CallRecord | undefined,
  { kind, reason, ...rest }: StopCause,
): AbortFrame {
  const description = 'description' in rest ? rest.description : undefined
  const cause = {
    kind,
    reason: show(reason, { what: 'reason' }),
    ...(description !== undefined && { description: asText(show(description, { what: 'label' })) }),
  }
  return { type: 'abort', ...arrival, call: call?.id ?? null, cause }
}

export function resultFrame(show: Show, call: string, message: Message, where: Omit<Where, 'what'>): ResultFrame {
  const isUser = message.type === 'user' && typeof message.message.content !== 'string'
  const block = isUser ? (message.message.content as readonly { type: string; [key: string]: unknown }[])[0] : undefined
  const isResult = block?.type === 'tool_result'
  return {
    type: 'result',
    call,
    message: isResult ? 'tool_result' : message.type,
    isError: isResult && block.is_error === true,
    content: show(isResult ? block.content : message, { what: 'result', ...where }),
  }
}
