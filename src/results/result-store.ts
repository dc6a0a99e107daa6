/** A result that is too long for the model. */
export interface LongResult {
  readonly toolUseID: string
  readonly toolName: string
  readonly text: string
}

/** Stores results that are too long for the model. `signalbox/node` has one that keeps files. */
export interface ResultStore {
  /** Stores the text and returns where it can be read again. If it throws or rejects, the result is truncated. */
  save(result: LongResult): Promise<{ path: string }> | { path: string }
}
