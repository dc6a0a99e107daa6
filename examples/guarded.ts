import { createAssistantMessage, defineTool, type Hooks, StreamingToolExecutor } from 'signalbox'
import { z } from 'zod'

const mail = defineTool({
  name: 'Mail',
  inputSchema: z.object({ to: z.string(), text: z.string() }),
  matchesRule: (spec, { to }) => to.endsWith(spec), // the tool checks the specifier of a rule, in parentheses
  call: async ({ to, text }) => ({ data: `sent to ${to}: ${text}` }),
})
let failures = 2
const fetchPage = defineTool({
  name: 'Fetch',
  inputSchema: z.object({ url: z.string() }),
  retry: { attempts: 3, backoffMs: 10 },
  call: async ({ url }) => {
    if (failures-- > 0) throw new Error('connection reset')
    return { data: `the page at ${url}` }
  },
})

const hooks: Hooks = {
  PreToolUse: [
    {
      matcher: 'Mail',
      hooks: [
        async ({ tool_input }) => ({
          hookSpecificOutput: {
            hookEventName: 'PreToolUse',
            updatedInput: { ...(tool_input as object), text: 'Hello! Sent by a robot.' },
          },
        }),
      ],
    },
  ],
  PostToolUse: [
    { hooks: [async () => ({ hookSpecificOutput: { hookEventName: 'PostToolUse', additionalContext: 'Be brief.' } })] },
  ],
}
const permissions = { allow: ['Mail(@home.example)', 'Fetch'], deny: ['Mail(@rival.example)'] }
// simulates a person who answers "yes, and always for these"
const canUseTool = async () => ({ behavior: 'allow', addRules: { allow: ['Mail(@friends.example)'] } }) as const

const executor = new StreamingToolExecutor([mail, fetchPage], canUseTool, { hooks, permissions })
executor.on('tool_use_success', ({ toolUseID, decision, attempts }) =>
  console.log(`${toolUseID}: allowed by ${JSON.stringify(decision?.source)}, attempts: ${attempts}`),
)
executor.on('tool_use_rejected', ({ toolUseID, message }) => console.log(`${toolUseID}: ${message}`))

for (const [id, name, input] of [
  ['a', 'Mail', { to: 'ann@home.example', text: 'Hello!' }],
  ['b', 'Mail', { to: 'bob@rival.example', text: 'Hello!' }],
  ['c', 'Mail', { to: 'cid@friends.example', text: 'Hello!' }],
  ['d', 'Mail', { to: 'dan@friends.example', text: 'Hello!' }],
  ['e', 'Fetch', { url: 'https://home.example' }],
] as const) {
  executor.addTool({ type: 'tool_use', id, name, input }, createAssistantMessage([]))
}
for await (const { message } of executor.getRemainingResults()) {
  if (message.type === 'user') console.log(JSON.stringify(message.toolUseResult))
}
