import { defaultIdsAndTime, type IdsAndTime } from './ids-and-time.ts'
import type {
  AssistantMessage,
  Attachment,
  AttachmentMessage,
  BlockLike,
  ContentBlock,
  ProgressMessage,
  StopHookSummary,
  SystemMessage,
  ToolResultBlock,
  ToolResultMessage,
  UserMessage,
} from './message.ts'

const stampOf = (idsAndTime: IdsAndTime) => ({ uuid: idsAndTime.uuid(), timestamp: isoTime(idsAndTime.now()) })

/** Not a spread: a spread that adds a key is ten times slower. */
const withStamp = <Type extends string, Fields extends object>(type: Type, fields: Fields, idsAndTime: IdsAndTime) =>
  Object.assign({ type }, stampOf(idsAndTime), fields)

/** An assistant message in the executor's format, for hosts that build it from a stream. */
export function createAssistantMessage(
  content: readonly BlockLike[],
  rest: { id?: string; [key: string]: unknown } = {},
  idsAndTime: IdsAndTime = defaultIdsAndTime,
): AssistantMessage {
  const uuid = idsAndTime.uuid()
  return {
    type: 'assistant',
    uuid,
    timestamp: isoTime(idsAndTime.now()),
    message: Object.assign({}, rest, {
      id: rest.id ?? `msg_${uuid}`,
      role: 'assistant' as const,
      content: content as ContentBlock[],
    }),
  }
}

export function createUserMessage(
  content: string | readonly BlockLike[],
  idsAndTime: IdsAndTime = defaultIdsAndTime,
): UserMessage {
  return {
    type: 'user',
    ...stampOf(idsAndTime),
    message: { role: 'user', content: content as string | ContentBlock[] },
  }
}

/** Tells the model that the user interrupted it. */
export function createInterruptionMessage(toolUse: boolean, idsAndTime: IdsAndTime = defaultIdsAndTime): UserMessage {
  const text = toolUse ? '[The user stopped this turn while tools ran.]' : '[The user stopped this reply.]'
  return { ...createUserMessage([{ type: 'text', text }], idsAndTime), ...(toolUse && { toolUse }) }
}

export function createToolResultMessage(
  block: ToolResultBlock,
  { toolUseResult, sourceToolAssistantUUID }: { toolUseResult?: unknown; sourceToolAssistantUUID: string },
  idsAndTime: IdsAndTime = defaultIdsAndTime,
): ToolResultMessage {
  return {
    type: 'user',
    uuid: idsAndTime.uuid(),
    timestamp: isoTime(idsAndTime.now()),
    message: { role: 'user', content: [block] },
    toolUseResult,
    sourceToolAssistantUUID,
  }
}

export function createProgressMessage(
  progress: Pick<ProgressMessage, 'toolUseID' | 'parentToolUseID' | 'siblingToolUseIDs' | 'data'>,
  idsAndTime: IdsAndTime = defaultIdsAndTime,
): ProgressMessage {
  return withStamp('progress', progress, idsAndTime)
}

export function createAttachmentMessage(
  attachment: Attachment,
  toolUseID?: string,
  idsAndTime: IdsAndTime = defaultIdsAndTime,
): AttachmentMessage {
  return {
    type: 'attachment',
    ...stampOf(idsAndTime),
    ...(toolUseID !== undefined && { toolUseID }),
    attachment,
  }
}

export function createSystemMessage<Fields extends { subtype: string }>(
  fields: Fields,
  idsAndTime: IdsAndTime = defaultIdsAndTime,
): SystemMessage & Fields {
  // a draft may contain fields of another message: type and stamp are overwritten
  return Object.assign({}, fields, { type: 'system' as const }, stampOf(idsAndTime))
}

/** One message that summarizes the stop hooks of a turn. */
export function createStopHookSummary(
  summary: Pick<StopHookSummary, 'hookInfos' | 'hookErrors' | 'preventedContinuation' | 'stopReason'>,
  idsAndTime: IdsAndTime = defaultIdsAndTime,
): StopHookSummary {
  const head = { subtype: 'stop_hook_summary' as const, hookCount: summary.hookInfos.length }
  return createSystemMessage(Object.assign(head, summary), idsAndTime)
}

/** Many messages share a millisecond, and formatting it is the slowest part of a stamp. */
let lastTime = { ms: Number.NaN, text: '' }

/** Years that ISO strings cannot hold become the epoch: a stamp must never throw. */
function isoTime(ms: number): string {
  if (ms !== lastTime.ms) lastTime = { ms, text: new Date(Math.abs(ms) <= 8.64e15 ? ms : 0).toISOString() }
  return lastTime.text
}
