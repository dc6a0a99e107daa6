import type { PlanEntry } from './planned-call.ts'

export interface Scenario {
  readonly id: string
  readonly title: string
  /** The part to watch, and why it happens. */
  readonly watch: string
  readonly rule: string
  /** A suggestion for the next try. */
  readonly tryThis: string
  readonly calls: readonly PlanEntry[]
  /** When the user interrupts automatically. */
  readonly interruptAt?: number
  /** When the first model fails and the other one takes over. */
  readonly breaksOffAt?: number
}

export const scenarios: readonly Scenario[] = [
  {
    id: 'mixed',
    title: 'Mixed calls',
    watch:
      'The two reads run in parallel. The write waits until nothing runs, then runs alone. Every call after the write waits behind it.',
    rule: 'Safe calls run in parallel. An unsafe call runs alone. No call overtakes a waiting unsafe call.',
    tryThis: 'Mark the Write as safe and restart, or add calls while it runs.',
    calls: [
      { tool: 'Read', about: 'a.ts', at: 0, ms: 2_000 },
      { tool: 'Read', about: 'b.ts', at: 300, ms: 3_000 },
      { tool: 'Write', about: 'fix.ts', at: 700, ms: 1_600 },
      { tool: 'Read', about: 'fix.ts', at: 1_100, ms: 1_200 },
      { tool: 'Read', about: 'notes.md', at: 1_400, ms: 1_800 },
      { tool: 'Bash', about: 'npm test', at: 1_800, ms: 1_500 },
    ],
  },
  {
    id: 'sibling',
    title: 'Failing shell',
    watch:
      'The shell call fails while two others run. The running calls are aborted and the waiting calls never start. Each of them gets an error result. The shell call keeps its own error.',
    rule: 'A tool can cancel its siblings on error; the shell does. The turn itself goes on.',
    tryThis: 'Uncheck “fails” on the Bash and restart. Then press Fail on a Read: it cancels no other call.',
    calls: [
      { tool: 'Read', about: 'a.ts', at: 0, ms: 900 },
      { tool: 'Bash', about: 'git diff', at: 300, ms: 2_200, isSafe: true, fails: true },
      { tool: 'Read', about: 'b.ts', at: 600, ms: 4_000 },
      { tool: 'Upload', about: 'report.pdf', at: 900, ms: 3_500 },
      { tool: 'Write', about: 'fix.ts', at: 1_200 },
    ],
  },
  {
    id: 'interrupt',
    title: 'Interrupt',
    watch:
      'After two seconds the user sends a new message. Reads have “cancel” behaviour, so they stop. The upload has “block” behaviour: it finishes, and the waiting write still runs.',
    rule: 'An interrupt stops calls with “cancel” behaviour; calls with “block” behaviour finish. An abort stops every call.',
    tryThis: 'Restart and press Abort before the two seconds are over.',
    calls: [
      { tool: 'Read', about: 'a.ts', at: 0, ms: 4_500 },
      { tool: 'Upload', about: 'report.pdf', at: 300, ms: 3_600 },
      { tool: 'Read', about: 'b.ts', at: 600, ms: 4_000 },
      { tool: 'Write', about: 'fix.ts', at: 900, ms: 1_500 },
    ],
    interruptAt: 2_000,
  },
  {
    id: 'fallback',
    title: 'Fallback',
    watch:
      'The first model fails in the middle of its reply. Its run is discarded: no result is handed over, not even a finished one. The second model starts over after the last body of the old run has ended.',
    rule: 'A discarded run hands over nothing, then or later. The host learns which calls had already run.',
    tryThis: 'Select the first run at the top to see it again, or “query” above the chart.',
    calls: [
      { tool: 'Read', about: 'a.ts', at: 0, ms: 3_500 },
      { tool: 'Read', about: 'b.ts', at: 500, ms: 900 },
      { tool: 'Write', about: 'fix.ts', at: 1_200 },
      { tool: 'Read', about: 'a.ts', at: 300, ms: 1_500, attempt: 2 },
      { tool: 'Write', about: 'fix.ts', at: 700, ms: 1_400, attempt: 2 },
    ],
    breaksOffAt: 2_000,
  },
  {
    id: 'slow-first',
    title: 'Slow first',
    watch:
      'Three reads finish long before the first one. Striped results are finished but held until the first result is handed over. Then all of them follow at once, in order.',
    rule: 'Results are handed over strictly in the order of the calls, whatever finishes first.',
    tryThis: 'Drag the first call’s duration to the left while it runs.',
    calls: [
      { tool: 'Read', about: 'huge.log', at: 0, ms: 6_000 },
      { tool: 'Read', about: 'a.ts', at: 300, ms: 1_000 },
      { tool: 'Read', about: 'b.ts', at: 600, ms: 1_700 },
      { tool: 'Read', about: 'notes.md', at: 900, ms: 2_400 },
    ],
  },
  {
    id: 'permission',
    title: 'Permission',
    watch:
      'The fetch asks for permission; take your time. While it asks, it counts as executing: other safe calls run beside it, but the write waits for your answer.',
    rule: 'A question has no timeout; only an answer or an abort ends it. The first answer counts.',
    tryThis: 'Press Allow or Deny in the yellow box. Or press Interrupt: it ends an open question too.',
    calls: [
      { tool: 'Fetch', about: 'example.com', at: 0 },
      { tool: 'Read', about: 'a.ts', at: 400, ms: 1_400 },
      { tool: 'Write', about: 'fix.ts', at: 900, ms: 1_400 },
    ],
  },
]
