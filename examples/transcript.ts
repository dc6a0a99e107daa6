import type { ApiMessage } from 'signalbox'
import { checkTranscript, compactToolResults, repairTranscript } from 'signalbox/transcripts'

// As it was found after a crash: the second call has no result, and the last result has no call.
const found: ApiMessage[] = [
  { role: 'user', content: 'Do the tests pass?' },
  {
    role: 'assistant',
    content: [
      { type: 'tool_use', id: 'toolu_1', name: 'Read', input: { path: 'test.log' } },
      { type: 'tool_use', id: 'toolu_2', name: 'Bash', input: { command: 'npm test' } },
    ],
  },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_1', content: 'ok\n'.repeat(2_000) }] },
  { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'toolu_9', content: 'done' }] },
]

const check = checkTranscript(found)
if (!check.ok) for (const { code, at, message } of check.problems) console.log(`message ${at}: ${code}. ${message}`)

const { messages, changes } = repairTranscript(found)
for (const { code, done } of changes) console.log(`${code}: ${done}`)
console.log('valid now:', checkTranscript(messages).ok)

// Later, when the conversation has become long.
const reply: ApiMessage = { role: 'assistant', content: 'I cannot say yet.' }
const short = await compactToolResults([...messages, reply], { keepLast: 1 })
console.log(JSON.stringify(short[2]?.content[0]))
