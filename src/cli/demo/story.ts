import type { ScriptTurn } from '../../scripted/index.ts'

export const prompt = 'Customers say that a price of $5.05 is shown as $5.5. Find out why, and mend it.'

/** What the scripted model says and does. Its calls are real: they run in the workspace. */
export const story = (slowness: number): ScriptTurn[] => [
  [
    'I look at the code from several sides at once. The first look is the slowest: the others finish before it, and their results wait for their turn.\n',
    { call: 'Bash', input: { command: `sleep ${2.5 * slowness} && wc -l src/price.js src/cart.js` } },
    { call: 'Read', input: { file_path: 'src/price.js' } },
    { call: 'Read', input: { file_path: 'check.js' } },
    { call: 'Grep', input: { pattern: 'price\\(', output_mode: 'content' } },
    { wait: 2_600 * slowness },
  ],
  [
    'Now the checks. They may change things, so they run alone, and what I ask for behind them has to wait.\n',
    { call: 'Bash', input: { command: 'node check.js' } },
    { call: 'Read', input: { file_path: 'src/cart.js' } },
    { call: 'Read', input: { file_path: 'README.md' } },
  ],
  [
    'They fail, and so the two reads behind them were not needed any more. Cents below ten lose their zero. I mend that and check again.\n',
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
    'All is well. May I mark it as released? Nothing allows that yet, so you are asked.\n',
    { call: 'Bash', input: { command: 'touch released.txt' } },
    { call: 'Glob', input: { pattern: '*' } },
  ],
  ['The price was put together from numbers, and 5 is not 05. It is padded now, and all five checks pass.\n'],
]
