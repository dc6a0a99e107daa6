import { describe, expect, it } from 'vitest'
import { play, type Story } from './support/nasty.ts'
import { breaksAfter, frames } from './support/sse-server.ts'

const created = (id = 'resp_1') => ({
  type: 'response.created',
  response: { id, model: 'm', status: 'in_progress', output: [] },
})
const usage = {
  input_tokens: 20,
  output_tokens: 9,
  input_tokens_details: { cached_tokens: 5 },
  output_tokens_details: { reasoning_tokens: 0 },
}
const done = (rest: object = {}, type = 'response.completed') => ({
  type,
  response: { id: 'resp_1', model: 'm', status: 'completed', output: [], usage, ...rest },
})
const fc = (call_id: string, name: string, args: string, rest: object = {}) => ({
  type: 'function_call',
  id: `fc_${call_id}`,
  call_id,
  name,
  arguments: args,
  status: 'completed',
  ...rest,
})
const added = (output_index: number, item: object) => ({ type: 'response.output_item.added', output_index, item })
const over = (output_index: number, item: object) => ({ type: 'response.output_item.done', output_index, item })
const args = (output_index: number, delta: string) => ({
  type: 'response.function_call_arguments.delta',
  output_index,
  delta,
})
const call = (at: number, id: string, name: string, a: string) => [
  added(at, fc(id, name, '', { status: 'in_progress' })),
  args(at, a),
  over(at, fc(id, name, a)),
]
const msg = (id: string, t: string) => ({
  type: 'message',
  id,
  role: 'assistant',
  status: 'completed',
  content: [{ type: 'output_text', text: t, annotations: [] }],
})
const say = (at: number, id: string, t: string) => [
  added(at, { ...msg(id, t), content: [] }),
  { type: 'response.output_text.delta', output_index: at, item_id: id, content_index: 0, delta: t },
  over(at, msg(id, t)),
]
const rs = (id: string, rest: object = {}) => ({ type: 'reasoning', id, summary: [], ...rest })
const stories: Record<string, Story> = {
  'one index for two calls': {
    replies: [[created(), ...call(0, 'a', 'Write', '{"a":1}'), ...call(0, 'b', 'Write', '{"b":1}'), done()]],
    outcome: {
      ran: ['Write {"a":1}', 'Write {"b":1}'],
      told: ['call a Write {"a":1}', 'call b Write {"b":1}', 'result a', 'result b', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'one index for a message and a call': {
    replies: [[created(), ...say(0, 'msg_1', 'A'), ...call(0, 'b', 'Write', '{"b":1}'), done()]],
    outcome: {
      ran: ['Write {"b":1}'],
      told: ['A', 'call b Write {"b":1}', 'result b', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'items that are only done': {
    replies: [[created(), over(0, msg('msg_1', 'A')), over(1, fc('a', 'Write', '{"a":1}')), done()]],
    outcome: {
      ran: ['Write {"a":1}'],
      told: ['A', 'call a Write {"a":1}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'an item that is done twice': {
    replies: [[created(), ...call(0, 'a', 'Write', '{"a":1}'), over(0, fc('a', 'Write', '{"a":1}')), done()]],
    outcome: {
      ran: ['Write {"a":1}'],
      told: ['call a Write {"a":1}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'no index': {
    replies: [
      [created(), ...call(0, 'a', 'Write', '{"a":1}'), ...call(1, 'b', 'Write', '{"b":1}'), done()].map(
        ({ output_index, ...event }: Record<string, unknown>) => event,
      ),
    ],
    outcome: {
      ran: ['Write {"a":1}', 'Write {"b":1}'],
      told: ['call a Write {"a":1}', 'call b Write {"b":1}', 'result a', 'result b', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'nothing but the whole output': {
    replies: [[created(), done({ output: [msg('msg_1', 'A'), fc('a', 'Write', '{"a":1}')] })]],
    outcome: {
      ran: ['Write {"a":1}'],
      told: ['A', 'call a Write {"a":1}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'calls whose pieces alternate': {
    replies: [
      [
        created(),
        added(0, fc('a', 'Write', '')),
        added(1, fc('b', 'Write', '')),
        args(1, '{"b"'),
        args(0, '{"a":1}'),
        args(1, ':1}'),
        over(1, fc('b', 'Write', '{"b":1}')),
        over(0, fc('a', 'Write', '{"a":1}')),
        done(),
      ],
    ],
    outcome: {
      ran: ['Write {"b":1}', 'Write {"a":1}'],
      told: ['call a Write {"a":1}', 'call b Write {"b":1}', 'result a', 'result b', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'no arguments': {
    replies: [[created(), ...call(0, 'a', 'Write', ''), done()]],
    outcome: {
      ran: ['Write {}'],
      told: ['call a Write {}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'arguments that come at once': {
    replies: [[created(), added(0, fc('a', 'Write', '')), over(0, fc('a', 'Write', '{"a":1}')), done()]],
    outcome: {
      ran: ['Write {"a":1}'],
      told: ['call a Write {"a":1}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'pieces that say something else than the item': {
    replies: [
      [created(), added(0, fc('a', 'Write', '')), args(0, '{"a":1}'), over(0, fc('a', 'Write', '{"a":2}')), done()],
    ],
    outcome: { ran: [], told: ['call a Write {}', 'error a', 'Done.'], ends: 'completed end_turn', asked: 2 },
  },
  'pieces of which some are missing': {
    replies: [
      [created(), added(0, fc('a', 'Write', '')), args(0, '{"a"'), over(0, fc('a', 'Write', '{"a":1}')), done()],
    ],
    outcome: { ran: [], told: ['call a Write {}', 'error a', 'Done.'], ends: 'completed end_turn', asked: 2 },
  },
  'the limit in the middle of the arguments': {
    replies: [
      [
        created(),
        added(0, fc('a', 'Write', '')),
        args(0, '{"a"'),
        over(0, fc('a', 'Write', '{"a"', { status: 'incomplete' })),
        done({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'response.incomplete'),
      ],
    ],
    outcome: { ran: [], told: ['call a Write {}', 'error a', 'Done.'], ends: 'completed end_turn', asked: 2 },
  },
  'the limit before the first argument': {
    replies: [
      [
        created(),
        added(0, fc('a', 'Read', '')),
        done({ status: 'incomplete', incomplete_details: { reason: 'max_output_tokens' } }, 'response.incomplete'),
      ],
    ],
    outcome: { ran: [], told: [], ends: 'completed max_tokens', asked: 1 },
  },
  'an item that is incomplete in a response that is not': {
    replies: [
      [created(), added(0, fc('a', 'Write', '')), over(0, fc('a', 'Write', '', { status: 'incomplete' })), done()],
    ],
    outcome: { ran: [], told: [], ends: 'completed tool_use', asked: 1 },
  },
  'a content filter after a call': {
    replies: [
      [
        created(),
        ...call(0, 'a', 'Write', '{"a":1}'),
        done({ status: 'incomplete', incomplete_details: { reason: 'content_filter' } }, 'response.incomplete'),
      ],
    ],
    outcome: { ran: [], told: [], ends: 'completed refusal', asked: 1 },
  },
  'a refusal after a call: the stream has moved on': {
    replies: [
      [
        created(),
        ...call(0, 'a', 'Write', '{"a":1}'),
        added(1, msg('msg_1', '')),
        { type: 'response.refusal.delta', output_index: 1, content_index: 0, delta: 'No.' },
        over(1, { ...msg('msg_1', ''), content: [{ type: 'refusal', refusal: 'No.' }] }),
        done(),
      ],
    ],
    outcome: {
      ran: ['Write {"a":1}'],
      told: ['call a Write {"a":1}', 'No.', 'result a'],
      ends: 'completed refusal',
      asked: 1,
    },
  },
  'a failure after something was done': {
    replies: [
      [
        created(),
        ...call(0, 'a', 'Write', '{"a":1}'),
        ...say(1, 'msg_1', 'x'),
        { type: 'response.failed', response: { id: 'resp_1', error: { code: 'server_error', message: 'x' } } },
      ],
    ],
    outcome: {
      ran: ['Write {"a":1}'],
      told: ['call a Write {"a":1}', 'x', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
      retries: 1,
    },
  },
  'a failure with the code 503': {
    replies: [[created(), { type: 'response.failed', response: { id: 'resp_1', error: { code: 503, message: 'x' } } }]],
    outcome: { ran: [], told: ['Done.'], ends: 'completed end_turn', asked: 2, retries: 1 },
  },
  'a failure without an error': {
    replies: [[created(), { type: 'response.failed', response: { id: 'resp_1', error: null } }]],
    outcome: { ran: [], told: ['Done.'], ends: 'completed end_turn', asked: 2, retries: 1 },
  },
  'an error with the code "429"': {
    replies: [[created(), { type: 'error', code: '429', message: 'x' }]],
    outcome: { ran: [], told: ['Done.'], ends: 'completed end_turn', asked: 2, retries: 1 },
  },
  'a response that was cancelled': {
    replies: [[created(), ...say(0, 'msg_1', 'A'), done({ status: 'cancelled' })]],
    outcome: { ran: [], told: ['Done.'], ends: 'completed end_turn', asked: 2, retries: 1 },
  },
  'a response that failed, and says that it completed': {
    replies: [
      [created(), ...say(0, 'msg_1', 'A'), done({ status: 'failed', error: { code: 'server_error', message: 'x' } })],
    ],
    outcome: { ran: [], told: ['Done.'], ends: 'completed end_turn', asked: 2, retries: 1 },
  },
  'two ends': {
    replies: [[created(), ...call(0, 'a', 'Write', '{"a":1}'), done(), done()]],
    outcome: {
      ran: ['Write {"a":1}'],
      told: ['call a Write {"a":1}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'reasoning and nothing else': {
    replies: [[created(), added(0, rs('rs_1')), over(0, rs('rs_1')), done()]],
    outcome: { ran: [], told: ['thinking'], ends: 'completed end_turn', asked: 1 },
  },
  'reasoning, a search and nothing else': {
    replies: [
      [
        created(),
        over(0, rs('rs_1')),
        over(1, { type: 'web_search_call', id: 'ws_1', status: 'completed', action: {} }),
        done(),
      ],
    ],
    outcome: { ran: [], told: ['thinking', 'openai_item'], ends: 'completed end_turn', asked: 1 },
  },
  'reasoning between calls': {
    replies: [
      [
        created(),
        over(0, rs('rs_1')),
        ...call(1, 'a', 'Read', '{}'),
        over(2, rs('rs_2')),
        ...call(3, 'b', 'Read', '{}'),
        done(),
      ],
    ],
    outcome: {
      ran: ['Read {}', 'Read {}'],
      told: ['thinking', 'call a Read {}', 'thinking', 'call b Read {}', 'result a', 'result b', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'a request for approval between reasoning and a call': {
    replies: [
      [
        created(),
        over(0, rs('rs_1')),
        over(1, { type: 'mcp_approval_request', id: 'mcpr_1', name: 'x', arguments: '{}', server_label: 's' }),
        ...call(2, 'a', 'Read', '{}'),
        done(),
      ],
    ],
    outcome: {
      ran: ['Read {}'],
      told: ['thinking', 'openai_item', 'call a Read {}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'an item of another kind': {
    replies: [
      [
        created(),
        over(0, { type: 'mcp_list_tools', id: 'ml_1', server_label: 's', tools: [] }),
        ...say(1, 'msg_1', 'A'),
        done(),
      ],
    ],
    outcome: { ran: [], told: ['openai_item', 'A'], ends: 'completed end_turn', asked: 1 },
  },
  'a call without an id': {
    replies: [[created(), over(0, { type: 'function_call', id: 'fc_1', name: 'Write', arguments: '{"a":1}' }), done()]],
    outcome: {
      ran: ['Write {"a":1}'],
      told: ['call minted Write {"a":1}', 'result minted', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'an id that is used again in the next turn': {
    replies: [
      [created(), ...call(0, 'a', 'Write', '{"a":1}'), done()],
      [created('resp_2'), ...call(0, 'a', 'Write', '{"a":1}'), done({ id: 'resp_2' })],
    ],
    outcome: {
      ran: ['Write {"a":1}', 'Write {"a":1}'],
      told: ['call a Write {"a":1}', 'result a', 'call minted Write {"a":1}', 'result minted', 'Done.'],
      ends: 'completed end_turn',
      asked: 3,
    },
  },
  'an id that is too long': {
    replies: [[created(), ...call(0, 'c'.repeat(80), 'Read', '{}'), done()]],
    outcome: {
      ran: ['Read {}'],
      told: [
        'call cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc Read {}',
        'result cccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccccc',
        'Done.',
      ],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'a custom call of a function': {
    replies: [
      [created(), over(0, { type: 'custom_tool_call', id: 'ctc_1', call_id: 'a', name: 'Write', input: 'x' }), done()],
    ],
    outcome: {
      ran: ['Write {"input":"x"}'],
      told: ['call a Write {"input":"x"}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'a call for a shell of the client': {
    replies: [
      [
        created(),
        over(0, {
          type: 'local_shell_call',
          id: 'ls_1',
          call_id: 'a',
          status: 'completed',
          action: { type: 'exec', command: ['rm'] },
        }),
        done(),
      ],
    ],
    outcome: { ran: [], told: ['openai_item'], ends: 'completed end_turn', asked: 1 },
  },
  'a call for a computer of the client': {
    replies: [
      [
        created(),
        over(0, {
          type: 'computer_call',
          id: 'cu_1',
          call_id: 'a',
          status: 'completed',
          action: {},
          pending_safety_checks: [],
        }),
        done(),
      ],
    ],
    outcome: { ran: [], told: ['openai_item'], ends: 'completed end_turn', asked: 1 },
  },
  'a message of two parts': {
    replies: [
      [
        created(),
        over(0, {
          ...msg('msg_1', 'A'),
          content: [
            { type: 'output_text', text: 'A', annotations: [] },
            { type: 'output_text', text: 'B', annotations: [] },
          ],
        }),
        done(),
      ],
    ],
    outcome: { ran: [], told: ['A', 'B'], ends: 'completed end_turn', asked: 1 },
  },
  'a message without content': {
    replies: [
      [
        created(),
        added(0, { ...msg('msg_1', ''), content: [] }),
        over(0, { ...msg('msg_1', ''), content: [] }),
        done(),
      ],
    ],
    outcome: { ran: [], told: [], ends: 'completed end_turn', asked: 1 },
  },
  'a connection that breaks after a whole call': {
    replies: [breaksAfter(frames([created(), ...call(0, 'a', 'Write', '{"a":1}')]))],
    outcome: { ran: [], told: ['Done.'], ends: 'completed end_turn', asked: 2, retries: 1 },
  },
  'an end after the beginning': {
    replies: [[created()]],
    outcome: { ran: [], told: ['Done.'], ends: 'completed end_turn', asked: 2, retries: 1 },
  },
  'keep-alive events': {
    replies: [
      [{ type: 'keepalive' }, created(), { type: 'keepalive', sequence_number: 1 }, ...say(0, 'msg_1', 'A'), done()],
    ],
    outcome: { ran: [], told: ['A'], ends: 'completed end_turn', asked: 1 },
  },
  'a surrogate pair in two pieces': {
    replies: [
      [
        created(),
        added(0, msg('msg_1', '')),
        { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'x\ud83d' },
        { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: '\ude00' },
        over(0, msg('msg_1', 'x😀')),
        done(),
      ],
    ],
    outcome: { ran: [], told: ['x\ud83d\ude00'], ends: 'completed end_turn', asked: 1 },
  },
  'five megabytes of arguments': {
    replies: [
      [
        created(),
        added(0, fc('a', 'Write', '')),
        args(0, '{"n":"'),
        ...Array.from({ length: 50 }, () => args(0, 'x'.repeat(100_000))),
        args(0, '"}'),
        over(0, fc('a', 'Write', `{"n":"${'x'.repeat(5_000_000)}"}`)),
        done(),
      ],
    ],
    outcome: {
      ran: [],
      told: [expect.stringMatching(/^call a Write \{"n":"x+$/), 'error a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
}

/** Each is played to the real client, and the conversation is continued: the service must take it. */
describe('nasty streams of the Responses API', () => {
  it.each(Object.entries(stories))('L2 L8 %s', async (_, { replies, playing, outcome }) => {
    expect(await play('Responses', replies, playing)).toMatchObject(outcome)
  })
})
