import type { ScriptTurn } from 'signalbox/scripted'

export const prompt = 'Customers say that a price of $5.05 is shown as $5.5. Find out why, and fix it.'

/** The scripted model's texts and calls. The calls are real: they run in the workspace. */
export const story = (slowness: number): ScriptTurn[] => [
  [
    'I run several reads in parallel. The first one is the slowest: the others finish before it, and their results are held until it is done.\n',
    { call: 'Bash', input: { command: `sleep ${2.5 * slowness} && wc -l src/price.js src/cart.js` } },
    { call: 'Read', input: { file_path: 'src/price.js' } },
    { call: 'Read', input: { file_path: 'check.js' } },
    { call: 'Grep', input: { pattern: 'price\\(', output_mode: 'content' } },
    { wait: 2_600 * slowness },
  ],
  [
    'Now the checks. They may have side effects, so they run alone, and the calls after them wait.\n',
    { call: 'Bash', input: { command: 'node check.js' } },
    { call: 'Read', input: { file_path: 'src/cart.js' } },
    { call: 'Read', input: { file_path: 'README.md' } },
  ],
  [
    'The checks fail. The two reads still ran, because they change nothing. Cents below ten lose their zero. I fix that and check again.\n',
    {
      call: 'Edit',
      input: {
        file_path: 'src/price.js',
        old_string: '  return dollars + cents % 100',
        new_string: "  return dollars + String(cents % 100).padStart(2, '0')",
      },
    },
    { call: 'Bash', input: { command: 'node check.js' } },
  ],
  [
    'All checks pass. May I mark it as released? No rule allows that yet, so you are asked.\n',
    { call: 'Bash', input: { command: 'touch released.txt' } },
    { call: 'Glob', input: { pattern: '*' } },
  ],
  [
    'The price was built from numbers without padding, so 05 became 5. The cents are padded now, and all five checks pass.\n',
  ],
]
