import type { Message } from '../messages/message.ts'
import type { Place } from '../pipeline/body-link.ts'

/** The requirements for a worker to run a call. */
export interface RemoteTool {
  readonly name: string
  readonly version: string | undefined
  /** SHA-256 of the JSON Schema of its input. */
  readonly schemaHash: string
}

/** One body that is to run elsewhere. */
export interface RemoteCall {
  /** The same key is the same job: it runs once, however often it is sent. */
  readonly key: string
  readonly tool: RemoteTool
  readonly toolUseID: string
  /** Plain JSON. */
  readonly input: unknown
  /** The picked keys of the context, as plain JSON. */
  readonly context: Readonly<Record<string, unknown>>
  /** The call changes nothing: it may run a second time if its worker is lost. */
  readonly again: boolean
  /** The call was sent by an earlier process. If its job is gone, nobody may send it again unless `again` is true. */
  readonly attach: boolean
  /** How long the body may take after it was told to stop. */
  readonly abortGraceMs: number
  /** The time that the tool allows after pick-up; undefined if there is no limit. */
  readonly timeoutMs: number | undefined
  /**
   * Tells the body to stop. With the reason `'suspend'`, the session goes on later or elsewhere: a body that can outlive
   * this process should go on, because the resumed session attaches to it.
   */
  readonly signal: AbortSignal
  onProgress(data: unknown): void
  onPlace(place: Place): void
}

/** The result of a body, as far as it can cross over. Plain JSON. */
export interface RemoteResult {
  readonly data?: unknown
  readonly interrupted?: boolean | undefined
  readonly structuredOutput?: unknown
  readonly newMessages?: Message[] | undefined
  /** Fields of the result that were left behind, such as `contextModifier`. */
  readonly dropped?: readonly string[] | undefined
  /** The data was too long to cross over: the worker has stored its text. */
  readonly stored?: StoredData | undefined
}

/** Where the text of a long result is, with its beginning and end. */
export interface StoredData {
  readonly path: string
  readonly size: number
  readonly head: string
  readonly tail: string
}

/** Runs bodies elsewhere: in another process, or on another machine. */
export interface ToolRunner {
  /**
   * Rejects with what the tool threw; with `DidNotRunError` if the body certainly did not start; with
   * `UnknownOutcomeError` if nobody can say what became of it.
   */
  call(call: RemoteCall): Promise<RemoteResult>
}
