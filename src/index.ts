export type { Admission, Decision, DecisionSource, Opinion, PermissionMode } from '../machines/index.ts'
export { partitionToolCalls, type ToolCallBatch } from './batch/partition-tool-calls.ts'
export { type BatchContext, runTools, runToolUse } from './batch/run-tools.ts'
export { classifyToolError } from './errors/classify-tool-error.ts'
export { isSignalboxError, SignalboxError, type SignalboxErrorCode } from './errors/signalbox-error.ts'
export type { MessageUpdate } from './executor/delivery.ts'
export type { ExecutorEvents, ExecutorWarning, SettledCall } from './executor/events.ts'
export type { AddOptions } from './executor/intake.ts'
export type { OpenQuestion } from './executor/open-question.ts'
export type { ExecutorOptions } from './executor/options.ts'
export { StreamingToolExecutor } from './executor/streaming-tool-executor.ts'
export type { DiscardedCall } from './executor/turn.ts'
export type {
  HookCallback,
  HookEvent,
  HookInput,
  HookMatcher,
  HookOutput,
  Hooks,
  PostToolUseFailureHookInput,
  PostToolUseHookInput,
  PreToolUseHookInput,
} from './hooks/hook.ts'
export {
  createAssistantMessage,
  createAttachmentMessage,
  createInterruptionMessage,
  createProgressMessage,
  createStopHookSummary,
  createSystemMessage,
  createToolResultMessage,
  createUserMessage,
} from './messages/create-messages.ts'
export type {
  AssistantMessage,
  Attachment,
  AttachmentMessage,
  ContentBlock,
  Message,
  ProgressMessage,
  StopHookSummary,
  SystemMessage,
  TextBlock,
  ToolResultBlock,
  ToolResultMessage,
  ToolUseBlock,
  UserMessage,
} from './messages/message.ts'
export type { Stamps } from './messages/stamps.ts'
export { type ApiMessage, toApiMessages } from './messages/to-api-messages.ts'
export { classifyModelError, isRetryable, type ModelErrorKind } from './model/classify-model-error.ts'
export type { Model, ModelEvent, ModelRequest, StopReason } from './model/model.ts'
export { retryAfterMs } from './model/retry-after.ts'
export { type PermissionRule, parseRule } from './permission/permission-rule.ts'
export type { PermissionLists, PermissionSettings } from './permission/permission-settings.ts'
export type { WarningCode } from './pipeline/call-host.ts'
export type { Clock } from './pipeline/clock.ts'
export type { CallTelemetry, TelemetryEvents, TimedPhase } from './pipeline/telemetry.ts'
export type { ModelRetry, QueryOptions } from './query/options.ts'
export { type Query, query } from './query/query.ts'
export type { ModelReplyMessage, ModelRetryMessage, QueryMessage, StreamEventMessage } from './query/query-message.ts'
export type { QueryResult } from './query/query-run.ts'
export type { LongResult, ResultStore } from './results/result-store.ts'
export { defineTool } from './tool/define-tool.ts'
export {
  allowAllTools,
  type CanUseTool,
  type PermissionAnswer,
  type PermissionQuestion,
  type ToolCheck,
} from './tool/permission.ts'
export type {
  AnyTool,
  InputVerdict,
  JSONObjectSchema,
  OnProgress,
  ProgressChunk,
  ResultChunk,
  Retry,
  Timeout,
  Tool,
  ToolFailure,
  ToolResult,
  ToolReturn,
} from './tool/tool.ts'
export { type ToolSchema, toolSchemas } from './tool/tool-schemas.ts'
export { createToolUseContext, type ToolCallContext, type ToolUseContext } from './tool/tool-use-context.ts'
