/** A search: its pattern and its options. */
export interface Search {
  readonly pattern: string
  readonly ignoreCase: boolean
  readonly multiline: boolean
  readonly mode: 'files' | 'count' | 'content'
  /** Lines to show before and after each match. */
  readonly before: number
  readonly after: number
}

export interface FoundLine {
  readonly number: number
  readonly text: string
  readonly isMatch: boolean
}

/** The matches of one file. */
export interface FileMatch {
  readonly path: string
  readonly count: number
  readonly lines: readonly FoundLine[]
  /** Number of further lines that were not kept. */
  readonly linesLeftOut?: number | undefined
}

export interface FoundMatches {
  readonly matches: FileMatch[]
  /** The search stopped early at a limit. */
  readonly isCut: boolean
  /** The signal ended the search early. */
  readonly isStopped?: boolean | undefined
}

export const maxLineChars = 500
export const maxFileBytes = 10_000_000
