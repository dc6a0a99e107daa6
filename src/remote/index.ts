export type { Place } from '../pipeline/body-link.ts'
export { DidNotRunError, UnknownOutcomeError } from '../tool/outcome-errors.ts'
export {
  type BodyOutcome,
  exceeds,
  maxInputBytes,
  maxResultBytes,
  type RemoteError,
  settleOutcome,
  storedData,
} from './body-outcome.ts'
export { type RemoteOptions, remote } from './remote.ts'
export { mismatchOf, remoteToolOf, schemaHashOf } from './remote-tool.ts'
export type { RemoteCall, RemoteResult, RemoteTool, StoredData, ToolRunner } from './tool-runner.ts'
