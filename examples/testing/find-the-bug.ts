import { defineTool } from 'signalbox'
import { exploreTurn, type Hold } from 'signalbox/testing'
import { z } from 'zod'

let file = ''

// the tool as it is in the agent, with a file that waits for the story wherever a real disk would
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
    file = '' // each story begins anew
    return [editTool(hold)]
  },
  calls: [
    { tool: 'Edit', input: { line: 'one' } },
    { tool: 'Edit', input: { line: 'two' } },
  ],
  happenings: { abort: false, interrupt: false, discard: false, reader: false, reading: false },
  state: () => file,
  atEnd: () => {
    if (file !== 'one\ntwo\n') throw new Error(`an edit is lost: ${JSON.stringify(file)}`)
  },
})
console.log(explored.breach?.text ?? 'nothing is wrong')
