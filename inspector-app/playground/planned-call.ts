export type ToolName = 'Read' | 'Upload' | 'Fetch' | 'Write' | 'Bash'

/** A planned call: when the model requests it, how long it takes, how it ends. */
export interface PlannedCall {
  readonly id: string
  readonly tool: ToolName
  readonly about: string
  /** When the model requests it, in milliseconds from the start of its reply. */
  readonly at: number
  ms: number
  isSafe: boolean
  fails: boolean
  readonly asks: boolean
  /** Which of the two models requests it, if the first one fails. */
  readonly attempt: 1 | 2
  isSent: boolean
}

/** The defaults of each tool. */
export const toolHabits: Readonly<
  Record<ToolName, { isSafe: boolean; ms: number; asks: boolean; atInterrupt: 'cancel' | 'block'; about: string[] }>
> = {
  Read: { isSafe: true, ms: 1_500, asks: false, atInterrupt: 'cancel', about: ['a.ts', 'b.ts', 'notes.md'] },
  Upload: { isSafe: true, ms: 2_500, asks: false, atInterrupt: 'block', about: ['report.pdf', 'logo.svg'] },
  Fetch: { isSafe: true, ms: 1_200, asks: true, atInterrupt: 'cancel', about: ['example.com', 'example.org'] },
  Write: { isSafe: false, ms: 1_200, asks: false, atInterrupt: 'block', about: ['fix.ts', 'index.ts'] },
  Bash: { isSafe: false, ms: 2_000, asks: false, atInterrupt: 'cancel', about: ['npm test', 'make'] },
}

export type PlanEntry = Pick<PlannedCall, 'tool' | 'about' | 'at'> &
  Partial<Pick<PlannedCall, 'ms' | 'isSafe' | 'fails' | 'attempt'>>

export function plannedCall(entry: PlanEntry, index: number): PlannedCall {
  const { ms, isSafe, asks } = toolHabits[entry.tool]
  const id = `toolu_${String(index + 1).padStart(2, '0')}`
  return { id, ms, isSafe, asks, fails: false, attempt: 1, isSent: false, ...entry }
}
