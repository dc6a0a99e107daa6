import { defineTool } from 'signalbox'
import { exploreTurn, type Hold } from 'signalbox/testing'
import { z } from 'zod'

let file = ''

// the agent's tool, with a file that waits for the exploration wherever a real disk takes time
const editTool = (hold: Hold) =>
  defineTool({
    name: 'Edit',
    inputSchema: z.object({ line: z.string() }),
    isConcurrencySafe: () => true, // "it only appends a line"
    call: async ({ line }) => {
      const before = file
      await hold(`"${line}" is written`)
      file = `${before}${line}\n`
      return { data: 'done' }
    },
  })

const explored = await exploreTurn({
  tools: (hold) => {
    file = '' // each schedule starts with an empty file
    return [editTool(hold)]
  },
  calls: [
    { tool: 'Edit', input: { line: 'one' } },
    { tool: 'Edit', input: { line: 'two' } },
  ],
  happenings: { abort: false, interrupt: false, discard: false, reader: false, reading: false },
  state: () => file,
  atEnd: () => {
    if (file !== 'one\ntwo\n') throw new Error(`an edit was lost: ${JSON.stringify(file)}`)
  },
})
console.log(explored.breach?.text ?? 'no breach found')
