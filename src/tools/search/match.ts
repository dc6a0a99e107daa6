/** What to look for, and how. */
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

/** What was found in one file. */
export interface FileMatch {
  readonly path: string
  readonly count: number
  readonly lines: readonly FoundLine[]
  /** How many lines there were besides, where more were not kept. */
  readonly linesLeftOut?: number | undefined
}

export interface FoundMatches {
  readonly matches: FileMatch[]
  /** There was more to look at than may be. */
  readonly isCut: boolean
}

export const maxLineChars = 500
export const maxFileBytes = 10_000_000
