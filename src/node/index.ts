export { endProcess, type Grace, within } from '../process/end-process.ts'
export { findProgram } from '../process/find-program.ts'
export { groupRunner } from '../process/group-runner.ts'
export { type IsolationChoice, isolatedRunner } from '../process/isolation.ts'
export { runMarker } from '../process/marked-processes.ts'
export { nodeProcessRunner } from '../process/node-process-runner.ts'
export type {
  Isolation,
  ProcessExit,
  ProcessListener,
  ProcessRequest,
  ProcessRunner,
  RunningProcess,
} from '../process/process-runner.ts'
export {
  type CommandOutcome,
  type CommandRequest,
  type RunningCommand,
  startCommand,
  type WrapCommand,
} from '../process/run-command.ts'
export { shellEnvironment } from '../process/shell-environment.ts'
export { type FileJournals, fileJournals } from './file-journals/file-journals.ts'
export type { FileJournalsOptions, Seal } from './file-journals/options.ts'
export { type FileResultStore, type FileResultStoreOptions, fileResultStore } from './file-result-store.ts'
export { bodiesInProcess } from './local-runner/bodies-in-process.ts'
export { type BodyRunner, type LocalRunner, type LocalRunnerOptions, localRunner } from './local-runner/local-runner.ts'
export { type NodeResponse, sendResponse } from './send-response.ts'
