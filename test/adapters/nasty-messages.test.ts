import { describe, expect, it } from 'vitest'
import { play, type Story } from './support/nasty.ts'
import { breaksAfter, frames } from './support/sse-server.ts'

const start = (id = 'msg_1', rest: object = {}) => ({
  type: 'message_start',
  message: {
    id,
    type: 'message',
    role: 'assistant',
    content: [],
    model: 'm',
    stop_reason: null,
    usage: { input_tokens: 3, output_tokens: 1 },
    ...rest,
  },
})
const open = (index: number, content_block: object) => ({ type: 'content_block_start', index, content_block })
const delta = (index: number, piece: object) => ({ type: 'content_block_delta', index, delta: piece })
const close = (index: number) => ({ type: 'content_block_stop', index })
const json = (index: number, partial_json: string) => delta(index, { type: 'input_json_delta', partial_json })
const words = (index: number, text: string) => delta(index, { type: 'text_delta', text })
const use = (id: string, name: string, input: object = {}) => ({ type: 'tool_use', id, name, input })
const text = (index: number, s: string) => [open(index, { type: 'text', text: '' }), words(index, s), close(index)]
const call = (index: number, id: string, name: string, s = '{"n":1}') => [
  open(index, use(id, name)),
  json(index, s),
  close(index),
]
const md = (stop_reason: string | null, rest: object = {}, usage: object = { output_tokens: 5 }) => ({
  type: 'message_delta',
  delta: { stop_reason, stop_sequence: null, ...rest },
  usage,
})
const end = { type: 'message_stop' }
const thought = (index: number, sig = 'c2ln') => [
  open(index, { type: 'thinking', thinking: '', signature: '' }),
  delta(index, { type: 'thinking_delta', thinking: 'Hm.' }),
  delta(index, { type: 'signature_delta', signature: sig }),
  close(index),
]

const stories: Record<string, Story> = {
  'calls whose pieces alternate': {
    replies: [
      [
        start(),
        open(0, use('a', 'Write')),
        open(1, use('b', 'Write')),
        json(1, '{"b":1}'),
        json(0, '{"a":'),
        close(1),
        json(0, '1}'),
        close(0),
        md('tool_use'),
        end,
      ],
    ],
    outcome: {
      ran: ['Write {"b":1}', 'Write {"a":1}'],
      told: ['call a Write {"a":1}', 'call b Write {"b":1}', 'result a', 'result b', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'text open around a call': {
    replies: [
      [
        start(),
        open(0, { type: 'text', text: '' }),
        words(0, 'A'),
        ...call(1, 'a', 'Write'),
        words(0, 'B'),
        close(0),
        md('tool_use'),
        end,
      ],
    ],
    outcome: {
      ran: ['Write {"n":1}'],
      told: ['AB', 'call a Write {"n":1}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'one id for two calls': {
    replies: [[start(), ...call(0, 'a', 'Write'), ...call(1, 'a', 'Read'), md('tool_use'), end]],
    outcome: {
      ran: ['Write {"n":1}'],
      told: ['call a Write {"n":1}', 'call minted Read {"n":1}', 'result a', 'error minted', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'same call twice': {
    replies: [[start(), ...call(0, 'a', 'Write'), ...call(1, 'a', 'Write'), md('tool_use'), end]],
    outcome: {
      ran: ['Write {"n":1}'],
      told: ['call a Write {"n":1}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'an id that is used again in the next turn': {
    replies: [
      [start(), ...call(0, 'a', 'Write'), md('tool_use'), end],
      [start('msg_2'), ...call(0, 'a', 'Write'), md('tool_use'), end],
    ],
    outcome: {
      ran: ['Write {"n":1}', 'Write {"n":1}'],
      told: ['call a Write {"n":1}', 'result a', 'call minted Write {"n":1}', 'result minted', 'Done.'],
      ends: 'completed end_turn',
      asked: 3,
    },
  },
  'a refusal after the stop reason': {
    replies: [[start(), ...call(0, 'a', 'Write'), md('tool_use'), md('refusal'), end]],
    outcome: {
      ran: ['Write {"n":1}'],
      told: ['call a Write {"n":1}', 'result a'],
      ends: 'completed refusal',
      asked: 1,
    },
  },
  'another stop reason after a refusal: nothing runs': {
    replies: [[start(), ...call(0, 'a', 'Write'), md('refusal'), md('tool_use'), end]],
    outcome: { ran: [], told: [], ends: 'completed refusal', asked: 1 },
  },
  'a call after the stop reason': {
    replies: [[start(), ...text(0, 'A'), md('end_turn'), ...call(1, 'a', 'Write'), end]],
    outcome: {
      ran: ['Write {"n":1}'],
      told: ['A', 'call a Write {"n":1}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'a count before the stop reason': {
    replies: [
      [start(), ...text(0, 'A'), md(null, {}, { output_tokens: 3 }), md('end_turn', {}, { output_tokens: 7 }), end],
    ],
    outcome: { ran: [], told: ['A'], ends: 'completed end_turn', asked: 1 },
  },
  'usage after message_stop': {
    replies: [[start(), ...text(0, 'A'), md('end_turn'), end, md('end_turn', {}, { output_tokens: 99 })]],
    outcome: { ran: [], told: ['A'], ends: 'completed end_turn', asked: 1, tokens: 5 },
  },
  'no message_stop': {
    replies: [[start(), ...call(0, 'a', 'Write'), md('tool_use')]],
    outcome: {
      ran: ['Write {"n":1}'],
      told: ['call a Write {"n":1}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'a call that is not closed': {
    replies: [[start(), open(0, use('a', 'Write')), json(0, '{"n":1}'), md('tool_use'), end]],
    outcome: {
      ran: ['Write {"n":1}'],
      told: ['call a Write {"n":1}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'a call that is neither closed nor whole': {
    replies: [[start(), open(0, use('a', 'Write')), json(0, '{"n":'), md('tool_use'), end]],
    outcome: { ran: [], told: ['call a Write {}', 'error a', 'Done.'], ends: 'completed end_turn', asked: 2 },
  },
  'arguments cut in the middle': {
    replies: [[start(), ...call(0, 'a', 'Write', '{"n":'), ...text(1, 'x'), md('tool_use'), end]],
    outcome: { ran: [], told: ['call a Write {}', 'x', 'error a', 'Done.'], ends: 'completed end_turn', asked: 2 },
  },
  'a brace too many': {
    replies: [[start(), ...call(0, 'a', 'Write', '{"n":1}}'), ...text(1, 'x'), md('tool_use'), end]],
    outcome: { ran: [], told: ['call a Write {}', 'x', 'error a', 'Done.'], ends: 'completed end_turn', asked: 2 },
  },
  'arguments that are a list': {
    replies: [[start(), ...call(0, 'a', 'Write', '[1]'), ...text(1, 'x'), md('tool_use'), end]],
    outcome: { ran: [], told: ['call a Write {}', 'x', 'error a', 'Done.'], ends: 'completed end_turn', asked: 2 },
  },
  'arguments that are null': {
    replies: [[start(), ...call(0, 'a', 'Write', 'null'), ...text(1, 'x'), md('tool_use'), end]],
    outcome: { ran: [], told: ['call a Write {}', 'x', 'error a', 'Done.'], ends: 'completed end_turn', asked: 2 },
  },
  'arguments as JSON in JSON': {
    replies: [[start(), ...call(0, 'a', 'Write', '"{\\"n\\":1}"'), ...text(1, 'x'), md('tool_use'), end]],
    outcome: { ran: [], told: ['call a Write {}', 'x', 'error a', 'Done.'], ends: 'completed end_turn', asked: 2 },
  },
  'arguments with the name of the prototype': {
    replies: [[start(), ...call(0, 'a', 'Read', '{"__proto__":{"x":1},"constructor":1}'), md('tool_use'), end]],
    outcome: {
      ran: ['Read {"constructor":1}'],
      told: ['call a Read {"__proto__":{"x":1},"constructor":1}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'half a surrogate pair': {
    replies: [[start(), ...call(0, 'a', 'Read', '{"n":"\\ud800"}'), ...text(1, 'x\ud83d'), md('tool_use'), end]],
    outcome: {
      ran: ['Read {"n":"\\ud800"}'],
      told: ['call a Read {"n":"\\ud800"}', 'x\ud83d', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'a surrogate pair in two pieces': {
    replies: [
      [
        start(),
        open(0, { type: 'text', text: '' }),
        words(0, 'x\ud83d'),
        words(0, '\ude00y'),
        close(0),
        md('end_turn'),
        end,
      ],
    ],
    outcome: { ran: [], told: ['x\ud83d\ude00y'], ends: 'completed end_turn', asked: 1 },
  },
  'nothing but white space': {
    replies: [[start(), ...text(0, ''), ...text(1, '  \n'), md('end_turn'), end]],
    outcome: { ran: [], told: [], ends: 'completed end_turn', asked: 1 },
  },
  'a thought and nothing else': {
    replies: [[start(), ...thought(0), md('end_turn'), end]],
    outcome: { ran: [], told: ['thinking'], ends: 'completed end_turn', asked: 1 },
  },
  'thought then empty text': {
    replies: [[start(), ...thought(0), ...text(1, ''), md('end_turn'), end]],
    outcome: { ran: [], told: ['thinking'], ends: 'completed end_turn', asked: 1 },
  },
  'a thought that is cut off': {
    replies: [breaksAfter(frames([start(), ...thought(0).slice(0, 2)]))],
    outcome: { ran: [], told: ['Done.'], ends: 'completed end_turn', asked: 2, retries: 1 },
  },
  'a refusal after something was done': {
    replies: [
      [start(), ...call(0, 'a', 'Write'), ...text(1, 'and'), md('refusal', { stop_details: { type: 'refusal' } }), end],
    ],
    outcome: {
      ran: ['Write {"n":1}'],
      told: ['call a Write {"n":1}', 'and', 'result a'],
      ends: 'completed refusal',
      asked: 1,
    },
  },
  'a refusal after something was read': {
    replies: [[start(), ...call(0, 'a', 'Read'), ...text(1, 'and'), md('refusal'), end]],
    outcome: { ran: ['Read {"n":1}'], told: [], ends: 'completed refusal', asked: 1 },
  },
  'an error event': {
    replies: [[start(), ...text(0, 'A'), { type: 'error', error: { type: 'overloaded_error', message: 'x' } }]],
    outcome: { ran: [], told: ['Done.'], ends: 'completed end_turn', asked: 2, retries: 1 },
  },
  'an error event that says nothing': {
    replies: [[start(), { type: 'error' }]],
    outcome: { ran: [], told: [], ends: 'model_error -', asked: 1 },
  },
  'thoughts before and after a fallback': {
    replies: [
      [
        start(),
        ...thought(0),
        ...text(1, 'A'),
        open(2, { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } }),
        close(2),
        ...thought(3, 'c2ln2'),
        ...call(4, 'a', 'Read'),
        md('tool_use'),
        end,
      ],
    ],
    playing: { options: { fallbacks: 'default' } },
    outcome: {
      ran: ['Read {"n":1}'],
      told: ['A', 'fallback', 'thinking', 'call a Read {"n":1}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
      retries: 1,
    },
  },
  'two fallbacks': {
    replies: [
      [
        start(),
        ...call(0, 'a', 'Write'),
        open(1, { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } }),
        close(1),
        ...call(2, 'b', 'Write'),
        open(3, { type: 'fallback', from: { model: 'b' }, to: { model: 'c' } }),
        close(3),
        ...call(4, 'c', 'Write'),
        md('tool_use'),
        end,
      ],
    ],
    playing: { options: { fallbacks: 'default' } },
    outcome: {
      ran: ['Write {"n":1}'],
      told: ['fallback', 'fallback', 'call c Write {"n":1}', 'result c', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
      retries: 2,
    },
  },
  'a fallback and nothing after it': {
    replies: [
      [
        start(),
        ...call(0, 'a', 'Write'),
        open(1, { type: 'fallback', from: { model: 'a' }, to: { model: 'b' } }),
        close(1),
        md('end_turn'),
        end,
      ],
    ],
    playing: { options: { fallbacks: 'default' } },
    outcome: { ran: [], told: ['fallback'], ends: 'completed end_turn', asked: 1, retries: 1 },
  },
  'three pauses': {
    replies: [
      [
        start(),
        open(0, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
        close(0),
        md('pause_turn'),
        end,
      ],
      [start('msg_2'), md('pause_turn'), end],
      [
        start('msg_3'),
        open(0, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }),
        close(0),
        ...text(1, 'F'),
        md('end_turn'),
        end,
      ],
    ],
    outcome: {
      ran: [],
      told: ['server_tool_use', 'web_search_tool_result', 'F'],
      ends: 'completed end_turn',
      asked: 3,
    },
  },
  'a pause with a call': {
    replies: [
      [
        start(),
        open(0, { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }),
        close(0),
        ...call(1, 'a', 'Read'),
        md('pause_turn'),
        end,
      ],
      [
        start('msg_2'),
        open(0, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }),
        close(0),
        ...text(1, 'F'),
        md('end_turn'),
        end,
      ],
    ],
    outcome: {
      ran: ['Read {"n":1}'],
      told: ['server_tool_use', 'call a Read {"n":1}', 'result a', 'web_search_tool_result', 'F'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'a result of the service without its call': {
    replies: [
      [
        start(),
        open(0, { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_9', content: [] }),
        close(0),
        ...text(1, 'F'),
        md('end_turn'),
        end,
      ],
    ],
    outcome: { ran: [], told: ['web_search_tool_result', 'F'], ends: 'completed end_turn', asked: 1 },
  },
  'an index that is text': {
    replies: [
      [
        start(),
        { ...open(0, use('a', 'Write')), index: '0' },
        { ...json(0, '{"n":1}'), index: '0' },
        { ...close(0), index: '0' },
        md('tool_use'),
        end,
      ],
    ],
    outcome: { ran: [], told: [], ends: 'completed tool_use', asked: 1 },
  },
  'an index of forty bits': {
    replies: [[start(), ...call(2 ** 40, 'a', 'Write'), md('tool_use'), end]],
    outcome: {
      ran: ['Write {"n":1}'],
      told: ['call a Write {"n":1}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'a call without id and name': {
    replies: [[start(), open(0, { type: 'tool_use', input: {} }), close(0), ...text(1, 'x'), md('tool_use'), end]],
    outcome: {
      ran: [],
      told: ['call minted unknown_tool {}', 'x', 'error minted', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'arguments both whole and in pieces': {
    replies: [[start(), open(0, use('a', 'Write', { n: 1 })), json(0, '{"n":2}'), close(0), md('tool_use'), end]],
    outcome: {
      ran: ['Write {"n":2}'],
      told: ['call a Write {"n":2}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'a block of an unknown type': {
    replies: [[start(), open(0, { type: 'hologram', data: 'x' }), close(0), ...text(1, 'x'), md('end_turn'), end]],
    outcome: { ran: [], told: ['hologram', 'x'], ends: 'completed end_turn', asked: 1 },
  },
  'the limit in the middle of the second call': {
    replies: [[start(), ...call(0, 'a', 'Write'), open(1, use('b', 'Write')), json(1, '{"n"'), md('max_tokens'), end]],
    outcome: {
      ran: ['Write {"n":1}'],
      told: ['call a Write {"n":1}', 'call b Write {}', 'result a', 'error b', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'a context window that is full': {
    replies: [[start(), ...call(0, 'a', 'Write'), md('model_context_window_exceeded'), end]],
    outcome: { ran: [], told: ['call a Write {"n":1}', 'error a', 'Done.'], ends: 'completed end_turn', asked: 2 },
  },
  'another message after something was read': {
    replies: [[start(), ...call(0, 'a', 'Read'), start('msg_9'), ...text(0, 'B'), md('end_turn'), end]],
    outcome: { ran: ['Read {"n":1}'], told: ['B'], ends: 'completed end_turn', asked: 1, retries: 1 },
  },
  'another message after something was done': {
    replies: [
      [start(), ...call(0, 'a', 'Write'), ...text(1, 'x'), start('msg_9'), ...text(0, 'B'), md('end_turn'), end],
    ],
    outcome: {
      ran: ['Write {"n":1}'],
      told: ['call a Write {"n":1}', 'x', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
      retries: 1,
    },
  },
  'the same message from its start': {
    replies: [
      [start(), ...call(0, 'a', 'Write'), start(), ...call(0, 'a', 'Write'), ...text(1, 'x'), md('tool_use'), end],
    ],
    outcome: {
      ran: ['Write {"n":1}'],
      told: ['call a Write {"n":1}', 'x', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'nothing at all': {
    replies: [[]],
    outcome: { ran: [], told: ['Done.'], ends: 'completed end_turn', asked: 2, retries: 1 },
  },
  'only pings': {
    replies: [[{ type: 'ping' }, { type: 'ping' }]],
    outcome: { ran: [], told: ['Done.'], ends: 'completed end_turn', asked: 2, retries: 1 },
  },
  'an end without a stop reason': {
    replies: [[start(), ...text(0, 'A'), md(null), end]],
    outcome: { ran: [], told: ['Done.'], ends: 'completed end_turn', asked: 2, retries: 1 },
  },
  'an unknown stop reason': {
    replies: [[start(), ...call(0, 'a', 'Write'), md('cosmic_ray'), end]],
    outcome: {
      ran: ['Write {"n":1}'],
      told: ['call a Write {"n":1}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'five megabytes of arguments': {
    replies: [
      [
        start(),
        open(0, use('a', 'Write')),
        json(0, '{"n":"'),
        ...Array.from({ length: 50 }, () => json(0, 'x'.repeat(100_000))),
        json(0, '"}'),
        close(0),
        md('tool_use'),
        end,
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
describe('nasty streams of the Messages API', () => {
  it.each(Object.entries(stories))('L2 L8 %s', async (_, { replies, playing, outcome }) => {
    expect(await play('Messages', replies, playing)).toMatchObject(outcome)
  })
})
