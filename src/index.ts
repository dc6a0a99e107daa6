export type {
  Admission,
  Decision,
  DecisionSource,
  PermissionBehavior,
  PermissionMode,
  PermissionVerdict,
} from '../machines/index.ts'
export type { Background, BackgroundCall, BackgroundReading } from './background/background-call.ts'
export { backgroundOf } from './background/background-calls.ts'
export { type Clock, platformClock } from './base/clock.ts'
export { classifyToolError, describeError } from './base/describe-error.ts'
export { describeValue } from './base/describe-value.ts'
export { isSignalboxError, SignalboxError, type SignalboxErrorCode } from './base/signalbox-error.ts'
export { partitionToolCalls, type ToolCallBatch } from './executor/batch/partition-tool-calls.ts'
export { type BatchContext, runTools, runToolUse } from './executor/batch/run-tools.ts'
export type { DiscardedCall } from './executor/calls-so-far.ts'
export type { MessageUpdate } from './executor/delivery.ts'
export type { CompletedCall, ExecutorEvents, ExecutorWarning, OpenQuestion } from './executor/events.ts'
export type { AddOptions } from './executor/intake.ts'
export type { ExecutorOptions } from './executor/options.ts'
export { StreamingToolExecutor } from './executor/streaming-tool-executor.ts'
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
export type { IdsAndTime } from './messages/ids-and-time.ts'
export type {
  AssistantMessage,
  Attachment,
  AttachmentMessage,
  BackgroundOrigin,
  BlockLike,
  ContentBlock,
  Message,
  MessageLike,
  OtherBlock,
  ProgressMessage,
  StopHookSummary,
  SystemMessage,
  TextBlock,
  ThinkingBlock,
  ToolResultBlock,
  ToolResultMessage,
  ToolUseBlock,
  Usage,
  UserMessage,
} from './messages/message.ts'
export { type ApiMessage, toApiMessages } from './messages/to-api-messages.ts'
export { classifyModelError, isRetryable, type ModelErrorKind } from './models/classify-model-error.ts'
export type { Model, ModelEvent, ModelInfo, ModelRequest, StopReason } from './models/model.ts'
export { retryAfterMs } from './models/retry-after.ts'
export { type DenyRule, type PermissionRule, parseRule } from './permission/permission-rule.ts'
export type { PermissionLists, PermissionSettings } from './permission/permission-settings.ts'
export { gutterOf, type ShownLine, showInput, showInputText } from './permission/shown-input.ts'
export { visibleLine } from './permission/visible-text.ts'
export type { WarningCode } from './pipeline/executor-services.ts'
export type { CallTelemetry, TelemetryEvents, TimedPhase } from './pipeline/telemetry.ts'
export type { LoopGuardOptions } from './query/loop-guard.ts'
export type { ModelRetry, QueryOptions } from './query/options.ts'
export { type Query, query } from './query/query.ts'
export type {
  LimitWarningMessage,
  ModelRefusalMessage,
  ModelReplyMessage,
  ModelRetryMessage,
  QueryMessage,
  QueryResult,
  StreamEventMessage,
  UnansweredCallsMessage,
} from './query/query-message.ts'
export type { SessionQuestion } from './query/session/question-book.ts'
export { createSession, Session, type SessionStatus } from './query/session/session.ts'
export type { ForkOptions, SendOptions, SessionEvents, SessionOptions } from './query/session/session-options.ts'
export { type SessionResponseOptions, type SessionState, sessionResponse } from './query/session/session-response.ts'
export type { SessionView } from './query/session/session-view.ts'
export type { LongResult, ResultStore } from './results/long-result.ts'
export type { DetachOptions, ToolBackground } from './tool/background.ts'
export { checkRules, type RuleProblem } from './tool/check-rules.ts'
export { defineTool, toolError } from './tool/define-tool.ts'
export { describeCall } from './tool/describe-call.ts'
export { createLocks, type LockHolder, type Locks } from './tool/locks.ts'
export {
  allowAllTools,
  type CanUseTool,
  type PermissionAnswer,
  type PermissionQuestion,
  type PermissionReply,
  type ToolCheck,
} from './tool/permission.ts'
export type {
  AnyTool,
  InputVerdict,
  JSONObjectSchema,
  OnProgress,
  ProgressChunk,
  Resources,
  ResultChunk,
  Retry,
  SiblingCall,
  Timeout,
  Tool,
  ToolFailure,
  ToolResult,
  ToolReturn,
} from './tool/tool.ts'
export { type ToolSchema, toolSchemas } from './tool/tool-schemas.ts'
export { createToolUseContext, type ToolCallContext, type ToolUseContext } from './tool/tool-use-context.ts'
export type { Limits } from './usage/limits.ts'
export type { ModelPrice, ModelUsage, Prices, RunUsage, TokenCounts } from './usage/usage-total.ts'
