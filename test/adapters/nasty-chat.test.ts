import { describe, expect, it } from 'vitest'
import { play, type Story } from './support/nasty.ts'
import { breaksAfter, frames, sends } from './support/sse-server.ts'

const head = { id: 'c1', object: 'chat.completion.chunk', created: 1, model: 'm' }
const ch = (delta: object, finish_reason: string | null = null, rest: object = {}) => ({
  ...head,
  choices: [{ index: 0, delta, finish_reason }],
  ...rest,
})
const tc = (
  index: number | undefined,
  id: string | undefined,
  name: string | undefined,
  args: unknown,
  rest: object = {},
) => ({
  tool_calls: [
    {
      ...(index !== undefined && { index }),
      ...(id !== undefined && { id }),
      type: 'function',
      function: { ...(name !== undefined && { name }), arguments: args },
      ...rest,
    },
  ],
})
const usage = { prompt_tokens: 20, completion_tokens: 9, total_tokens: 29 }
const stories: Record<string, Story> = {
  'usage in every chunk but the last': {
    replies: [
      [
        ch({ content: 'A' }, null, { usage: { ...usage, completion_tokens: 1 } }),
        ch({ content: 'B' }, null, { usage }),
        ch({}, 'stop'),
      ],
    ],
    outcome: { ran: [], told: ['AB'], ends: 'completed end_turn', asked: 1, tokens: 9 },
  },
  'usage before finish in a chunk of its own': {
    replies: [[ch({ content: 'A' }), { ...head, choices: [], usage }, ch({}, 'stop')]],
    outcome: { ran: [], told: ['A'], ends: 'completed end_turn', asked: 1, tokens: 9 },
  },
  'usage after chunks with none': {
    replies: [
      [ch({ content: 'A' }, null, { usage: null }), ch({}, 'stop', { usage: null }), { ...head, choices: [], usage }],
    ],
    outcome: { ran: [], told: ['A'], ends: 'completed end_turn', asked: 1, tokens: 9 },
  },
  'arguments that are an empty text': {
    replies: [[ch(tc(0, 'a', 'Write', '')), ch({}, 'tool_calls')]],
    outcome: {
      ran: ['Write {}'],
      told: ['call a Write {}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'no arguments': {
    replies: [[ch(tc(0, 'a', 'Write', undefined)), ch({}, 'tool_calls')]],
    outcome: {
      ran: ['Write {}'],
      told: ['call a Write {}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'null arguments': {
    replies: [[ch(tc(0, 'a', 'Write', null)), ch({}, 'tool_calls')]],
    outcome: {
      ran: ['Write {}'],
      told: ['call a Write {}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'the limit before the first argument': {
    replies: [[ch(tc(0, 'a', 'Read', '')), ch({}, 'length')]],
    outcome: { ran: [], told: [], ends: 'completed max_tokens', asked: 1 },
  },
  'the limit in the middle of the arguments': {
    replies: [[ch(tc(0, 'a', 'Read', '{"n":')), ch({}, 'length')]],
    outcome: { ran: [], told: ['call a Read {}', 'error a', 'Done.'], ends: 'completed end_turn', asked: 2 },
  },
  'the limit after whole arguments': {
    replies: [[ch(tc(0, 'a', 'Write', '{"n":1}')), ch({}, 'length')]],
    outcome: { ran: [], told: ['call a Write {"n":1}', 'error a', 'Done.'], ends: 'completed end_turn', asked: 2 },
  },
  'two finish reasons': {
    replies: [[ch(tc(0, 'a', 'Write', '{}')), ch({}, 'tool_calls'), ch({}, 'stop')]],
    outcome: {
      ran: ['Write {}'],
      told: ['call a Write {}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'a content filter after a call': {
    replies: [[ch(tc(0, 'a', 'Write', '{"n":1}')), ch({}, 'content_filter')]],
    outcome: { ran: [], told: [], ends: 'completed refusal', asked: 1 },
  },
  'a refusal after a call: the stream has moved on': {
    replies: [[ch(tc(0, 'a', 'Write', '{"n":1}')), ch({ refusal: 'No.' }), ch({}, 'stop')]],
    outcome: {
      ran: ['Write {"n":1}'],
      told: ['call a Write {"n":1}', 'No.', 'result a'],
      ends: 'completed refusal',
      asked: 1,
    },
  },
  'chunks without choices': {
    replies: [[{ ...head, choices: [] }, ch({ content: 'A' }), { ...head, choices: [] }, {}, ch({}, 'stop')]],
    outcome: { ran: [], told: ['A'], ends: 'completed end_turn', asked: 1 },
  },
  comments: {
    replies: [
      sends(
        `: OPENROUTER PROCESSING\n\n${frames([ch({ content: 'A' })], false)}: x\n\n${frames([ch({}, 'stop')], false)}data: [DONE]\n\n`,
      ),
    ],
    outcome: { ran: [], told: ['A'], ends: 'completed end_turn', asked: 1 },
  },
  'an error with the code 429': {
    replies: [[ch({ content: 'A' }), { ...head, error: { code: 429, message: 'x' }, choices: [] }]],
    outcome: { ran: [], told: ['Done.'], ends: 'completed end_turn', asked: 2, retries: 1 },
  },
  'an error with the code "503"': {
    replies: [[ch({ content: 'A' }), { error: { code: '503', message: 'x' } }]],
    outcome: { ran: [], told: ['Done.'], ends: 'completed end_turn', asked: 2, retries: 1 },
  },
  'an error that is text': {
    replies: [[ch({ content: 'A' }), { error: 'Overloaded' }]],
    outcome: { ran: [], told: ['A'], ends: 'model_error -', asked: 1 },
  },
  'an error in the choice': {
    replies: [
      [
        ch({ content: 'A' }),
        { ...head, choices: [{ index: 0, delta: {}, finish_reason: 'error', error: { code: 502, message: 'x' } }] },
      ],
    ],
    outcome: { ran: [], told: ['Done.'], ends: 'completed end_turn', asked: 2, retries: 1 },
  },
  'an error after something was done': {
    replies: [[ch(tc(0, 'a', 'Write', '{"n":1}')), ch({ content: 'x' }), { error: { code: 502, message: 'x' } }]],
    outcome: {
      ran: ['Write {"n":1}'],
      told: ['call a Write {"n":1}', 'x', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
      retries: 1,
    },
  },
  'an error with the code 400': {
    replies: [[ch({ content: 'A' }), { error: { code: 400, message: 'bad' } }]],
    outcome: { ran: [], told: ['A'], ends: 'model_error -', asked: 1 },
  },
  'an error as the chunk itself': {
    replies: [
      [
        ch({ content: 'A' }),
        { object: 'error', message: 'CUDA out of memory', type: 'InternalServerError', code: 500 },
      ],
    ],
    outcome: { ran: [], told: ['Done.'], ends: 'completed end_turn', asked: 2, retries: 1 },
  },
  'calls without an index': {
    replies: [
      [ch(tc(undefined, 'a', 'Write', '{"a":1}')), ch(tc(undefined, 'b', 'Write', '{"b":1}')), ch({}, 'tool_calls')],
    ],
    outcome: {
      ran: ['Write {"a":1}', 'Write {"b":1}'],
      told: ['call a Write {"a":1}', 'call b Write {"b":1}', 'result a', 'result b', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'one index for all calls': {
    replies: [[ch(tc(0, 'a', 'Write', '{"a":1}')), ch(tc(0, 'b', 'Write', '{"b":1}')), ch({}, 'tool_calls')]],
    outcome: {
      ran: ['Write {"a":1}', 'Write {"b":1}'],
      told: ['call a Write {"a":1}', 'call b Write {"b":1}', 'result a', 'result b', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'one id for all calls': {
    replies: [[ch(tc(0, 'a', 'Write', '{"a":1}')), ch(tc(1, 'a', 'Write', '{"b":1}')), ch({}, 'tool_calls')]],
    outcome: {
      ran: ['Write {"a":1}'],
      told: ['call a Write {"a":1}', 'call minted Write {"b":1}', 'result a', 'error minted', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'calls without ids': {
    replies: [
      [ch(tc(0, undefined, 'Write', '{"a":1}')), ch(tc(1, undefined, 'Write', '{"b":1}')), ch({}, 'tool_calls')],
    ],
    outcome: {
      ran: ['Write {"a":1}', 'Write {"b":1}'],
      told: ['call minted Write {"a":1}', 'call minted Write {"b":1}', 'result minted', 'result minted', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'calls with empty ids': {
    replies: [[ch(tc(0, '', 'Write', '{"a":1}')), ch(tc(1, '', 'Write', '{"b":1}')), ch({}, 'tool_calls')]],
    outcome: {
      ran: ['Write {"a":1}', 'Write {"b":1}'],
      told: ['call minted Write {"a":1}', 'call minted Write {"b":1}', 'result minted', 'result minted', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'id repeated in each piece': {
    replies: [[ch(tc(0, 'a', 'Write', '{"a"')), ch(tc(0, 'a', 'Write', ':1}')), ch({}, 'tool_calls')]],
    outcome: {
      ran: ['Write {"a":1}'],
      told: ['call a Write {"a":1}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'name in pieces': {
    replies: [[ch(tc(0, 'a', 'Wri', '')), ch(tc(0, undefined, 'te', '{}')), ch({}, 'tool_calls')]],
    outcome: {
      ran: ['Write {}'],
      told: ['call a Write {}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'calls whose pieces alternate': {
    replies: [
      [
        ch(tc(0, 'a', 'Write', '{"a"')),
        ch(tc(1, 'b', 'Write', '{"b"')),
        ch(tc(0, undefined, undefined, ':1}')),
        ch(tc(1, undefined, undefined, ':1}')),
        ch({}, 'tool_calls'),
      ],
    ],
    outcome: {
      ran: ['Write {"a":1}', 'Write {"b":1}'],
      told: ['call a Write {"a":1}', 'call b Write {"b":1}', 'result a', 'result b', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'two calls in one delta': {
    replies: [
      [
        ch({
          tool_calls: [
            { index: 0, id: 'a', type: 'function', function: { name: 'Write', arguments: '{"a":1}' } },
            { index: 1, id: 'b', type: 'function', function: { name: 'Read', arguments: '{"b":1}' } },
          ],
        }),
        ch({}, 'tool_calls'),
      ],
    ],
    outcome: {
      ran: ['Write {"a":1}', 'Read {"b":1}'],
      told: ['call a Write {"a":1}', 'call b Read {"b":1}', 'result a', 'result b', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'calls, and the finish reason stop': {
    replies: [[ch(tc(0, 'a', 'Write', '{"a":1}')), ch({}, 'stop')]],
    outcome: {
      ran: ['Write {"a":1}'],
      told: ['call a Write {"a":1}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'a call in the old form': {
    replies: [[ch({ function_call: { name: 'Write', arguments: '{"a":1}' } }), ch({}, 'function_call')]],
    outcome: { ran: [], told: [], ends: 'completed end_turn', asked: 1 },
  },
  'call in finish chunk': {
    replies: [[ch(tc(0, 'a', 'Write', '{"a":1}'), 'tool_calls')]],
    outcome: {
      ran: ['Write {"a":1}'],
      told: ['call a Write {"a":1}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'calls after finish': {
    replies: [[ch({ content: 'A' }, 'stop'), ch(tc(0, 'a', 'Write', '{"a":1}'))]],
    outcome: { ran: [], told: ['A'], ends: 'completed end_turn', asked: 1 },
  },
  'a whole message': {
    replies: [
      [{ ...head, choices: [{ index: 0, message: { role: 'assistant', content: 'A' }, finish_reason: 'stop' }] }],
    ],
    outcome: { ran: [], told: ['A'], ends: 'completed end_turn', asked: 1 },
  },
  'a call in another choice': {
    replies: [
      [{ ...head, choices: [{ index: 1, delta: tc(0, 'z', 'Write', '{}') }] }, ch({ content: 'A' }), ch({}, 'stop')],
    ],
    outcome: { ran: [], told: ['A'], ends: 'completed end_turn', asked: 1 },
  },
  'a connection that breaks after a whole call': {
    replies: [breaksAfter(frames([ch(tc(0, 'a', 'Write', '{"a":1}'))], false))],
    outcome: { ran: [], told: ['Done.'], ends: 'completed end_turn', asked: 2, retries: 1 },
  },
  'an end without a finish reason': {
    replies: [[ch(tc(0, 'a', 'Write', '{"a":1}'))]],
    outcome: { ran: [], told: ['Done.'], ends: 'completed end_turn', asked: 2, retries: 1 },
  },
  'a [DONE] without a finish reason': {
    replies: [sends(`${frames([ch({ content: 'A' })], false)}data: [DONE]\n\n`)],
    outcome: { ran: [], told: ['Done.'], ends: 'completed end_turn', asked: 2, retries: 1 },
  },
  'objects as pieces': {
    replies: [[ch(tc(0, 'a', 'Write', { a: 1 })), ch(tc(0, undefined, undefined, { b: 2 })), ch({}, 'tool_calls')]],
    outcome: { ran: [], told: ['call a Write {}', 'error a', 'Done.'], ends: 'completed end_turn', asked: 2 },
  },
  'a surrogate pair in two pieces': {
    replies: [
      [ch(tc(0, 'a', 'Read', '{"a":"\ud83d')), ch(tc(0, undefined, undefined, '\ude00"}')), ch({}, 'tool_calls')],
    ],
    outcome: {
      ran: ['Read {"a":"\ud83d\ude00"}'],
      told: ['call a Read {"a":"\ud83d\ude00"}', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'reasoning and nothing else': {
    replies: [[ch({ reasoning_content: 'Hm' }), ch({}, 'stop')]],
    outcome: { ran: [], told: ['thinking'], ends: 'completed end_turn', asked: 1 },
  },
  'reasoning after call': {
    replies: [[ch(tc(0, 'a', 'Read', '{}')), ch({ reasoning_content: 'Hm' }), ch({}, 'tool_calls')]],
    outcome: {
      ran: ['Read {}'],
      told: ['call a Read {}', 'thinking', 'result a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'an id that is too long': {
    replies: [[ch(tc(0, `chatcmpl-tool-${'a'.repeat(40)}`, 'Read', '{}')), ch({}, 'tool_calls')]],
    outcome: {
      ran: ['Read {}'],
      told: [
        'call chatcmpl-tool-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa Read {}',
        'result chatcmpl-tool-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa',
        'Done.',
      ],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'a wrapper that holds something else': {
    replies: [
      [
        ch(
          tc(
            0,
            'a',
            'multi_tool_use.parallel',
            '{"tool_uses":[{"recipient_name":"functions.Write","parameters":{"n":1}},5]}',
          ),
        ),
        ch({}, 'tool_calls'),
      ],
    ],
    outcome: {
      ran: [],
      told: [
        'call a multi_tool_use_parallel {"tool_uses":[{"recipient_name":"functions.Write","parameter',
        'error a',
        'Done.',
      ],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'a wrapper in a wrapper': {
    replies: [
      [
        ch(
          tc(
            0,
            'a',
            'parallel',
            '{"tool_uses":[{"recipient_name":"functions.parallel","parameters":{"tool_uses":[]}}]}',
          ),
        ),
        ch({}, 'tool_calls'),
      ],
    ],
    outcome: {
      ran: [],
      told: ['call a parallel {"tool_uses":[{"recipient_name":"functions.parallel","parame', 'error a', 'Done.'],
      ends: 'completed end_turn',
      asked: 2,
    },
  },
  'the limit after a wrapper': {
    replies: [
      [
        ch(tc(0, 'a', 'parallel', '{"tool_uses":[{"recipient_name":"functions.Write","parameters":{"n":1}}]}')),
        ch({}, 'length'),
      ],
    ],
    outcome: { ran: [], told: ['call a_0 Write {"n":1}', 'error a_0', 'Done.'], ends: 'completed end_turn', asked: 2 },
  },
  'a content filter after a wrapper': {
    replies: [
      [
        ch(tc(0, 'a', 'parallel', '{"tool_uses":[{"recipient_name":"functions.Read","parameters":{"n":1}}]}')),
        ch({}, 'content_filter'),
      ],
    ],
    outcome: { ran: ['Read {"n":1}'], told: [], ends: 'completed refusal', asked: 1 },
  },
  'five megabytes of arguments': {
    replies: [
      [
        ch(tc(0, 'a', 'Write', '{"n":"')),
        ...Array.from({ length: 50 }, () => ch(tc(0, undefined, undefined, 'x'.repeat(100_000)))),
        ch(tc(0, undefined, undefined, '"}')),
        ch({}, 'tool_calls'),
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
describe('nasty streams of Chat Completions', () => {
  it.each(Object.entries(stories))('L2 L8 %s', async (_, { replies, playing, outcome }) => {
    expect(await play('Chat', replies, playing)).toMatchObject(outcome)
  })
})
