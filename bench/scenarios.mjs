/** Calls as a model streams them: when each block ends, how long its tool takes, and whether the call is safe. */
const gapMs = 50

const calls = (durations, isSafe) =>
  durations.map((ms, n) => ({
    type: 'tool_use',
    id: `toolu_${n}`,
    name: isSafe ? 'Read' : 'Write',
    input: { n, text: 'line' },
    ms,
    endsAt: (n + 1) * gapMs,
  }))

export const scenarios = {
  'slow first call': calls([300, 100, 100, 100, 100], true),
  'equal safe calls': calls([100, 100, 100, 100, 100], true),
  'unsafe calls in a row': calls([100, 100, 100, 100, 100], false),
}
