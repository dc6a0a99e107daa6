import { defineTool } from 'signalbox'
import { memoryJournals, openSession } from 'signalbox/durable'
import { scriptedModel } from 'signalbox/scripted'
import { exploreCrashes } from 'signalbox/testing'
import { z } from 'zod'

const bank: string[] = []
let crash: (() => void) | undefined
const pay = defineTool({
  name: 'Pay',
  inputSchema: z.object({ invoice: z.string() }),
  recover: () => 'again', // but the bank does not know that it is the same payment
  call: async ({ invoice }) => {
    bank.push(invoice)
    if (crash !== undefined) await new Promise(() => crash?.()) // the first process goes no further
    return { data: `paid ${invoice}` }
  },
})
const replies = [[{ call: 'Pay', input: { invoice: 'A-1' } }], 'Paid.']

// every crash: the tool lets its body run again
const explored = await exploreCrashes({ tools: [pay], replies })
console.log(explored.breach?.text ?? 'no breach found')

// one crash, in the middle of the real body
const journals = memoryJournals()
const model = scriptedModel(replies)
const open = () => openSession({ id: 's', journals, tools: [pay], model, canUseTool: () => ({ behavior: 'allow' }) })
const first = await open()
await new Promise<void>((resolve) => {
  crash = resolve
  first.send('Pay invoice A-1.')
})
crash = undefined
const second = await open() // the first one can write no more
for await (const message of second.resume()) if (message.type === 'user') console.log(message.toolUseResult)
console.log(`the bank has ${bank.length} payments`)
await second.close()
