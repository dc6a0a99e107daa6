import type { PlanEntry } from './planned-call.ts'

export interface Scenario {
  readonly id: string
  readonly title: string
  /** What to watch, and why it is so. */
  readonly watch: string
  readonly rule: string
  /** What to try then. */
  readonly tryThis: string
  readonly calls: readonly PlanEntry[]
  /** When the user interrupts, by itself. */
  readonly interruptAt?: number
  /** When the first model breaks off and the other one takes over. */
  readonly breaksOffAt?: number
}

export const scenarios: readonly Scenario[] = [
  {
    id: 'mixed',
    title: 'Mixed calls',
    watch:
      'The two reads run side by side. The write waits until nothing runs, then has the line to itself, and whatever the model asked for after it stays behind it.',
    rule: 'Safe calls share the line, an unsafe call is alone, and nothing overtakes an unsafe call that waits.',
    tryThis: 'Mark the Write as safe and start again, or add calls while it runs.',
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
      'The shell call fails while two others run. They are told to stop, what waits never starts, and each is answered all the same. The shell keeps its own error.',
    rule: 'A tool may say that its error cancels its siblings; the shell does. The turn itself goes on.',
    tryThis: 'Take the mark “fails” off the Bash and start again; then press Fail on a Read: it cancels nobody.',
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
      'After two seconds the user says something new. Reads may be cut off, so they stop. The upload says that it must not be: it finishes, and the write that waits still runs.',
    rule: 'An interrupt stops the calls whose tool says “cancel”; those that say “block” run to their end. An abort stops everything.',
    tryThis: 'Start again and press Abort before the two seconds are over.',
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
      'The first model breaks off in mid-reply. Its run is given up: no result leaves it, not even one that is finished. The second model starts anew, once the last body of the old run is gone.',
    rule: 'A discarded run yields nothing, then or later; the host learns what had already run.',
    tryThis: 'Choose the run at the top to see the first one again, and “query” above its chart.',
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
      'Three reads are finished long before the first one. Their results are striped: they are there, but held, until the first has left. Then all leave at once, in order.',
    rule: 'Results leave strictly in the order asked, whatever finishes first.',
    tryThis: 'Drag the first call’s length to the left while it runs.',
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
      'The fetch asks for permission, and nobody hurries you. While it asks it counts as executing: other safe calls run beside it, but the write has to wait for your answer.',
    rule: 'A question may take for ever; only an answer or an abort ends it. The first answer counts.',
    tryThis: 'Press Allow or Deny in the yellow box. Or interrupt: that answers an open question too.',
    calls: [
      { tool: 'Fetch', about: 'example.com', at: 0 },
      { tool: 'Read', about: 'a.ts', at: 400, ms: 1_400 },
      { tool: 'Write', about: 'fix.ts', at: 900, ms: 1_400 },
    ],
  },
]
