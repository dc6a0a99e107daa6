import { defineTool } from 'signalbox'
import { simulate } from 'signalbox/testing'
import { z } from 'zod'

// your own tools; the seed decides when their bodies end, fail, hang or flood
const read = defineTool({
  name: 'Read',
  inputSchema: z.object({}),
  isConcurrencySafe: () => true,
  timeout: 30_000,
  call: async () => ({ data: '' }),
})
const shell = defineTool({
  name: 'Bash',
  inputSchema: z.object({}),
  cancelsSiblingsOnError: true,
  call: async () => ({ data: '' }),
})

const first = await simulate({ seed: 42, runs: 50, tools: [read, shell] })
const again = await simulate({ seed: 42, runs: 50, tools: [read, shell] })
console.log(`${first.runs} turns, ${first.breach === undefined ? 'no breach found' : first.breach.text}`)
console.log(first.digest === again.digest ? 'the same seed, the same bytes' : 'something is not deterministic')
