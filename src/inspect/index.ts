export { type ActorFeed, type ActorFeedOptions, createActorFeed } from './bridge/actor-feed.ts'
export { type ActorListener, FollowedActors, type SeenActor, type SeenEvent } from './bridge/follow-actors.ts'
export { ShownRuns } from './bridge/shown-runs.ts'
export { chartConfig, type OneOrMore, type StateConfig, type TransitionConfig } from './frames/chart-config.ts'
export type { ChartDefinition, ChartNode, ChartTransition } from './frames/chart-definition.ts'
export { checkFrame } from './frames/check-frame.ts'
export { type CoverageFile, checkCoverage, coverageText } from './frames/coverage-file.ts'
export { applyPatch, type Patch } from './frames/diff-value.ts'
export { type Encoded, type EncodeLimits, encodeValue } from './frames/encode-value.ts'
export * from './frames/frame.ts'
export { type StateValue, stateValue, transitionNames } from './frames/read-chart.ts'
export { frameLine, readFrames } from './frames/read-frames.ts'
export type { Redact, Where } from './frames/redact.ts'
export { type JournalRecordingOptions, recordingOfJournal, recordingOfSession } from './journal/recording-of-journal.ts'
export type { StoredSessionInfo, StoredSessionList } from './journal/session-digest.ts'
export type { Connection } from './recorder/connection-watch.ts'
export { createRecorder, type Recorder, type RecorderOptions, type WatchedAs } from './recorder/recorder.ts'
export type { Inspectable } from './recorder/run-watch.ts'
export type { Commandable, Conversation, Showable } from './recorder/showable.ts'
export { type ActiveStates, activeStates } from './run-model/active-states.ts'
export { foldFrame, foldRun, foldServer } from './run-model/fold-frame.ts'
export type { CastListener, ModelListener, RunListener } from './run-model/run-listener.ts'
export {
  type ActorState,
  type BackgroundState,
  type CallState,
  type CastState,
  emptyRunModel,
  newRunState,
  newServerState,
  type RunModel,
  type RunState,
  type Said,
  type ServerState,
} from './run-model/run-state.ts'
export {
  eachWaiting,
  givenUp,
  serverStateWords,
  type WaitingIn,
  waitOf,
  whyWaiting,
  whyWaitingForKey,
  whyWaitingForServer,
  whyWaitingForWorker,
} from './run-model/why-waiting.ts'
export type { CallTimes, RunTimes } from './runs/call-times.ts'
export {
  type ComparedConversations,
  type ComparedTurn,
  compareConversations,
  type OneTurn,
  type TurnDifference,
  type TurnSum,
} from './runs/compare-conversations.ts'
export { type ComparedCall, type ComparedRuns, type CompareOptions, compareRuns } from './runs/compare-runs.ts'
export type { Difference } from './runs/difference.ts'
export type { LimitEnd } from './runs/limit-conversation.ts'
export { callPhases, type Phase, type WaitedFor } from './runs/seen-call.ts'
export { type MarkedCall, type MovedCall, type WhatIf, type WhatIfOptions, whatIf } from './runs/what-if.ts'
export {
  type ConversationOptions,
  type ConversationWhatIf,
  type TurnTimes,
  type TurnWhatIf,
  whatIfConversation,
} from './runs/what-if-conversation.ts'
