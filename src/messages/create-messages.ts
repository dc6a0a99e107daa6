import type {
  AssistantMessage,
  Attachment,
  AttachmentMessage,
  ContentBlock,
  ProgressMessage,
  StopHookSummary,
  SystemMessage,
  ToolResultBlock,
  ToolResultMessage,
  UserMessage,
} from './message.ts'
import { defaultStamps, type Stamps } from './stamps.ts'

const stampOf = (stamps: Stamps) => ({ uuid: stamps.uuid(), timestamp: isoTime(stamps.now()) })

/** Not a spread: one that adds a key costs ten times as much. */
const withStamp = <Type extends string, Fields extends object>(type: Type, fields: Fields, stamps: Stamps) =>
  Object.assign({ type }, stampOf(stamps), fields)

/** An assistant message as the executor expects one, for hosts that build it from a stream. */
export function createAssistantMessage(
  content: ContentBlock[],
  rest: { id?: string; [key: string]: unknown } = {},
  stamps: Stamps = defaultStamps,
): AssistantMessage {
  const uuid = stamps.uuid()
  return {
    type: 'assistant',
    uuid,
    timestamp: isoTime(stamps.now()),
    message: Object.assign({}, rest, { id: rest.id ?? `msg_${uuid}`, role: 'assistant' as const, content }),
  }
}

export function createUserMessage(content: string | ContentBlock[], stamps: Stamps = defaultStamps): UserMessage {
  return { type: 'user', ...stampOf(stamps), message: { role: 'user', content } }
}

/** Tells the model that the user broke off what it did. */
export function createInterruptionMessage(toolUse: boolean, stamps: Stamps = defaultStamps): UserMessage {
  const text = toolUse ? '[The user stopped this turn while tools ran.]' : '[The user stopped this reply.]'
  return { ...createUserMessage([{ type: 'text', text }], stamps), ...(toolUse && { toolUse }) }
}

export function createToolResultMessage(
  block: ToolResultBlock,
  { toolUseResult, sourceToolAssistantUUID }: { toolUseResult?: unknown; sourceToolAssistantUUID: string },
  stamps: Stamps = defaultStamps,
): ToolResultMessage {
  return {
    type: 'user',
    uuid: stamps.uuid(),
    timestamp: isoTime(stamps.now()),
    message: { role: 'user', content: [block] },
    toolUseResult,
    sourceToolAssistantUUID,
  }
}

export function createProgressMessage(
  progress: Pick<ProgressMessage, 'toolUseID' | 'parentToolUseID' | 'siblingToolUseIDs' | 'data'>,
  stamps: Stamps = defaultStamps,
): ProgressMessage {
  return withStamp('progress', progress, stamps)
}

export function createAttachmentMessage(
  attachment: Attachment,
  toolUseID?: string,
  stamps: Stamps = defaultStamps,
): AttachmentMessage {
  return {
    type: 'attachment',
    ...stampOf(stamps),
    ...(toolUseID !== undefined && { toolUseID }),
    attachment,
  }
}

export function createSystemMessage<Fields extends { subtype: string }>(
  fields: Fields,
  stamps: Stamps = defaultStamps,
): SystemMessage & Fields {
  // a draft may bring fields of another message: its type and its stamp are its own
  return Object.assign({}, fields, { type: 'system' as const }, stampOf(stamps))
}

/** What the stop hooks of a turn did, all in one message. */
export function createStopHookSummary(
  summary: Pick<StopHookSummary, 'hookInfos' | 'hookErrors' | 'preventedContinuation' | 'stopReason'>,
  stamps: Stamps = defaultStamps,
): StopHookSummary {
  const head = { subtype: 'stop_hook_summary' as const, hookCount: summary.hookInfos.length }
  return createSystemMessage(Object.assign(head, summary), stamps)
}

/** Many messages are of the same millisecond, and writing it out is the dearest part of a stamp. */
let lastTime = { ms: Number.NaN, text: '' }

/** Years that ISO strings cannot hold come out as the epoch: a stamp must never throw. */
function isoTime(ms: number): string {
  if (ms !== lastTime.ms) lastTime = { ms, text: new Date(Math.abs(ms) <= 8.64e15 ? ms : 0).toISOString() }
  return lastTime.text
}
