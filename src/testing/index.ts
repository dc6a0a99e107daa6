export { recordedModel } from '../query/scripted/recorded-model.ts'
export { scriptedModel } from '../query/scripted/scripted-model.ts'
export {
  type BackgroundEvidence,
  backgroundIsSpared,
  completedWaits,
  detachIsTaken,
  outcomesDeliveredOnce,
} from './background-invariants.ts'
export { chartToMermaid } from './chart-to-mermaid.ts'
export type { ExecutorLike, MakeExecutor } from './conformance-bench.ts'
export { type ChartCoverage, coverage } from './coverage.ts'
export { describeExecutor, type TestFramework } from './describe-executor.ts'
export {
  describeJournalStore,
  type JournalStoreTraits,
} from './describe-journal-store.ts'
export { describeToolRunner, type ToolRunnerTraits } from './describe-tool-runner.ts'
export { type CrashExploration, type ExploreCrashesOptions, exploreCrashes } from './explore-crashes.ts'
export { type ExploreQueryOptions, exploreQuery, type QueryExploration } from './explore-query.ts'
export { type Exploration, type ExploreOptions, exploreTurn } from './explore-turn.ts'
export { flush } from './flush.ts'
export { type FoundQuery, replayQuery } from './found-query.ts'
export type { FoundStory } from './found-story.ts'
export { callBlock, type HeldModel, heldModel, textBlock } from './held-model.ts'
export { type HeldQuery, heldQuery } from './held-query.ts'
export { type HeldRun, type HeldTool, type HeldToolOptions, heldTool, troublesomeTools } from './held-tool.ts'
export { type HeldTurn, type HeldTurnOptions, heldTurn } from './held-turn.ts'
export type { Breach, Invariant } from './invariant.ts'
export * from './invariants.ts'
export type { MakeJournalStore, StoreUnderTest } from './journal-bench.ts'
export { type PlayedTurn, playTurn, replayTurn } from './play-turn.ts'
export * from './query-invariants.ts'
export type { QueryHappenings, QuerySetup, ScriptedCall } from './query-setup.ts'
export { recordStory } from './record-story.ts'
export { checkRecording, evidenceOf, type RecordedBreach, RecordingChecks } from './recording-checks.ts'
export type { MakeToolRunner, RunnerAbility, RunnerUnderTest } from './runner-bench.ts'
export { type SimulateOptions, type Simulation, simulate } from './simulate.ts'
export { type QuerySimulation, type SimulateQueryOptions, simulateQuery } from './simulate-query.ts'
export { type SimulatedClock, simulatedClock } from './simulated-clock.ts'
export * from './tool-invariants.ts'
export type { BodyEvidence, CallEvidence, RunState, TurnEvidence } from './turn-evidence.ts'
export type { Happenings, Hold, PlannedCall, TurnSetup } from './turn-setup.ts'
export { assertInvariants, type InvariantWatch, watchInvariants } from './watch-invariants.ts'
