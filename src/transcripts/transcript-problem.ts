/** What can be wrong with a whole message. */
type MessageProblemCode = 'bad_message' | 'wrong_role' | 'empty_message' | 'bad_start'

/** What can be wrong with one block of a message. */
type BlockProblemCode = 'bad_block' | 'empty_text' | 'misplaced_block'

/** What can be wrong with a call or a result, alone or as a pair. */
type CallProblemCode =
  | 'invalid_call'
  | 'empty_error_result'
  | 'duplicate_call_id'
  | 'unanswered_call'
  | 'orphan_result'
  | 'duplicate_result'
  | 'result_too_late'
  | 'result_too_early'
  | 'results_not_first'
  | 'unanswered_server_call'
  | 'orphan_server_result'

export type TranscriptProblemCode = MessageProblemCode | BlockProblemCode | CallProblemCode

interface Place {
  /** The index of the message in the array that was given. */
  readonly at: number
  /** A sentence for people. */
  readonly message: string
}

/** Something for which the Messages API would reject the transcript. */
export type TranscriptProblem =
  | (Place & { readonly code: MessageProblemCode })
  | (Place & { readonly code: BlockProblemCode; readonly block: number })
  /** `toolUseID` is the id as it was found, and empty where there was none. */
  | (Place & { readonly code: CallProblemCode; readonly block: number; readonly toolUseID: string })

/** A problem, and what was done about it. */
export type TranscriptChange = TranscriptProblem & {
  readonly done: 'dropped' | 'moved' | 'added' | 'rewritten'
  /** Where a call and its result were given another id. */
  readonly newToolUseID?: string
}

export type Report = (change: TranscriptChange) => void
