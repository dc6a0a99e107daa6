import { defineTool } from 'signalbox'
import { exploreTurn, toolInvariants, turnInvariants } from 'signalbox/testing'
import { z } from 'zod'

const explored = await exploreTurn({
  tools: (hold) => [
    defineTool({
      name: 'Search',
      inputSchema: z.object({ words: z.string() }),
      call: async ({ words }) => {
        await hold('the answer is there') // forgets its signal
        return { data: `nothing about ${words}` }
      },
    }),
  ],
  calls: [{ tool: 'Search', input: { words: 'trains' } }],
  happenings: { failure: false, progress: false, interrupt: false, discard: false, reader: false, reading: false },
  invariants: [...turnInvariants, ...toolInvariants],
})
console.log(explored.breach?.text)
