/** A result that is too long for the model. */
export interface LongResult {
  readonly toolUseID: string
  readonly toolName: string
  readonly text: string
}

/** Where results go that are too long for the model. `signalbox/node` has one that keeps files. */
export interface ResultStore {
  /** Keeps the text and says where it can be read again. May throw or reject: then the result is cut. */
  save(result: LongResult): Promise<{ path: string }> | { path: string }
}
