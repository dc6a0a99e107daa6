import { it } from 'node:test'
import { defineTool } from 'signalbox'
import { exploreTurn, type Hold } from 'signalbox/testing'
import { z } from 'zod'

let file = ''
const editTool = (hold: Hold) =>
  defineTool({
    name: 'Edit',
    inputSchema: z.object({ line: z.string() }),
    // unsafe, which is the default: it runs alone
    call: async ({ line }) => {
      const before = file
      await hold(`"${line}" is written`)
      file = `${before}${line}\n`
      return { data: 'done' }
    },
  })

it('loses no edit', async () => {
  const { breach } = await exploreTurn({
    tools: (hold) => {
      file = ''
      return [editTool(hold)]
    },
    calls: ['one', 'two'].map((line) => ({ tool: 'Edit', input: { line } })),
    happenings: { abort: false, interrupt: false, discard: false },
    state: () => file,
    atEnd: () => {
      if (file !== 'one\ntwo\n') throw new Error('an edit was lost')
    },
  })
  if (breach) throw new Error(breach.text)
})
