/** Problems of a whole message. */
type MessageProblemCode = 'bad_message' | 'wrong_role' | 'empty_message' | 'bad_start'

/** Problems of one block of a message. */
type BlockProblemCode = 'bad_block' | 'empty_text' | 'misplaced_block'

/** Problems of a call or a result, alone or as a pair. */
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
  /** The index of the message in the given array. */
  readonly at: number
  /** A sentence for people. */
  readonly message: string
}

/** A reason why the Messages API would reject the transcript. */
export type TranscriptProblem =
  | (Place & { readonly code: MessageProblemCode })
  | (Place & { readonly code: BlockProblemCode; readonly block: number })
  /** `toolUseID` is the id as given, empty if there was none. */
  | (Place & { readonly code: CallProblemCode; readonly block: number; readonly toolUseID: string })

/** A problem and its repair. */
export type TranscriptChange = TranscriptProblem & {
  readonly done: 'dropped' | 'moved' | 'added' | 'rewritten'
  /** The new id of a call and its result, if they got one. */
  readonly newToolUseID?: string
}

export type Report = (change: TranscriptChange) => void
