import { createAssistantMessage, defineTool, StreamingToolExecutor } from 'signalbox'
import { assertInvariants, type Invariant, turnInvariants, watchInvariants } from 'signalbox/testing'
import { z } from 'zod'

const mail = defineTool({
  name: 'Mail',
  inputSchema: z.object({ to: z.string() }),
  isConcurrencySafe: () => true,
  call: async ({ to }) => ({ data: `sent to ${to}` }),
})
// your own rule: checks the recorded turn and returns what is wrong
const atMostTwoMails: Invariant = {
  name: 'at most two mails',
  check: ({ calls }) => {
    const sent = calls.filter(({ name, starts }) => name === 'Mail' && starts.length > 0)
    return sent.length > 2 ? `${sent.length} were sent` : undefined
  },
}

const executor = new StreamingToolExecutor([mail], () => ({ behavior: 'allow' }))
const watch = watchInvariants(executor, [...turnInvariants, atMostTwoMails])
for (const [at, to] of ['ann', 'bob', 'cid'].entries()) {
  executor.addTool({ type: 'tool_use', id: `call_${at}`, name: 'Mail', input: { to } }, createAssistantMessage([]))
}
for await (const { message } of executor.getRemainingResults())
  if (message.type === 'user') console.log(message.toolUseResult)
assertInvariants(executor) // the built-in ones hold
console.log(watch.breaches())
