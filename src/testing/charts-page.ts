import { callMachine, connectionMachine, executorMachine, queryMachine } from '../../machines/public.ts'
import { chartToMermaid } from './chart-to-mermaid.ts'

const charts = [
  ['A call', callMachine],
  ['The executor', executorMachine],
  ['A query', queryMachine],
  ['A connection to an MCP server', connectionMachine],
] as const

/** The page of the docs that shows every chart as it is. */
export const chartsPage = (): string =>
  `${[
    '# The charts',
    'Written by `npm run docs:charts` from the machines themselves; a test fails where this page is out of date. In brackets stands the guard.',
    ...charts.flatMap(([title, machine]) => [
      `## ${title}`,
      `\`\`\`mermaid\n${chartToMermaid(machine as never)}\n\`\`\``,
    ]),
  ].join('\n\n')}\n`
