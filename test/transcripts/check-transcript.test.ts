import { describe, expect, it } from 'vitest'
import { isSignalboxError } from '../../src/base/signalbox-error.ts'
import type { ApiMessage, ContentBlock } from '../../src/index.ts'
import {
  createAssistantMessage,
  createAttachmentMessage,
  createProgressMessage,
  createStopHookSummary,
  createSystemMessage,
  createUserMessage,
} from '../../src/messages/create-messages.ts'
import { toApiMessages } from '../../src/messages/to-api-messages.ts'
import { checkTranscript } from '../../src/transcripts/check-transcript.ts'
import { repairTranscript } from '../../src/transcripts/repair-transcript.ts'
import { asOwn, assistant, call, result, user } from './messages.ts'

type Expected = Record<string, unknown>

/** The problems without their sentences. */
const problemsOf = (messages: readonly unknown[]): Expected[] => {
  const checked = checkTranscript(messages)
  return checked.ok ? [] : checked.problems.map(({ message, ...rest }) => rest)
}

const go = user('go')
const long = 'x'.repeat(201)

/** Invalid in both forms, in the same way. */
const wrong: Record<string, [messages: ApiMessage[], ...problems: Expected[]]> = {
  'a call without a result at the end': [
    [go, assistant(call('a'))],
    { code: 'unanswered_call', at: 1, block: 0, toolUseID: 'a' },
  ],
  'a call without a result in the middle': [
    [go, assistant('hm', call('a'), call('b')), user(result('b')), assistant('done')],
    { code: 'unanswered_call', at: 1, block: 1, toolUseID: 'a' },
  ],
  'a result without a call': [
    [go, assistant(call('a')), user(result('a'), result('z'))],
    { code: 'orphan_result', at: 2, block: 1, toolUseID: 'z' },
  ],
  'a result for a call that is not in the reply before it': [
    [go, assistant(call('a')), user('wait'), assistant('yes?'), user(result('a'))],
    { code: 'result_too_late', at: 4, block: 0, toolUseID: 'a' },
  ],
  'a result before its call': [
    [go, assistant('hm'), user(result('a')), assistant(call('a'))],
    { code: 'result_too_early', at: 2, block: 0, toolUseID: 'a' },
  ],
  'an id twice in one reply': [
    [go, assistant(call('a', { n: 1 }), call('a', { n: 2 })), user(result('a'))],
    { code: 'duplicate_call_id', at: 1, block: 1, toolUseID: 'a' },
    { code: 'unanswered_call', at: 1, block: 1, toolUseID: 'a' },
  ],
  'an id again in a later reply': [
    [go, assistant(call('a')), user(result('a')), assistant(call('a')), user(result('a'))],
    { code: 'duplicate_call_id', at: 3, block: 0, toolUseID: 'a' },
  ],
  'two results for one call': [
    [go, assistant(call('a')), user(result('a'), result('a', 'again'))],
    { code: 'duplicate_result', at: 2, block: 1, toolUseID: 'a' },
  ],
  'a call without an id': [
    [go, assistant({ type: 'tool_use', name: 'Bash', input: {} }), user({ type: 'tool_result', content: 'ok' })],
    { code: 'invalid_call', at: 1, block: 0, toolUseID: '' },
  ],
  'an input that is not an object': [
    [go, assistant(call('a', '{"command":'), call('b', [])), user(result('a'), result('b'))],
    { code: 'invalid_call', at: 1, block: 0, toolUseID: 'a' },
    { code: 'invalid_call', at: 1, block: 1, toolUseID: 'b' },
  ],
  'an error that says nothing': [
    [go, assistant(call('a')), user({ ...result('a', ''), is_error: true })],
    { code: 'empty_error_result', at: 2, block: 0, toolUseID: 'a' },
  ],
  'a result whose content is neither text nor blocks': [
    [go, assistant(call('a'), call('b')), user(result('a', { lines: 2 }), result('b', ['text']))],
    { code: 'bad_block', at: 2, block: 0 },
    { code: 'bad_block', at: 2, block: 1 },
  ],
  'a call in a message of the user': [
    [go, user(call('a')), user(result('a'))],
    { code: 'misplaced_block', at: 1, block: 0 },
  ],
  'a result in a message of the assistant': [
    [go, assistant(call('a'), result('a'))],
    { code: 'misplaced_block', at: 1, block: 1 },
  ],
  'a message of the assistant without content': [[go, assistant(), user('hello?')], { code: 'empty_message', at: 1 }],
  'white space and nothing else': [
    [go, assistant('\n\n'), user(' ', '\n')],
    { code: 'empty_message', at: 1 },
    { code: 'empty_message', at: 2 },
  ],
  'an empty text block': [[go, assistant('', 'hm')], { code: 'empty_text', at: 1, block: 0 }],
  'a text block without text': [[go, assistant({ type: 'text' }, 'hm')], { code: 'bad_block', at: 1, block: 0 }],
  'a block that is none': [
    [go, { role: 'assistant', content: [null, 'hm', { type: 'text', text: 'hm' }] as never }],
    { code: 'bad_block', at: 1, block: 0 },
    { code: 'bad_block', at: 1, block: 1 },
  ],
  'content that is none': [[go, { role: 'user', content: null as never }], { code: 'bad_message', at: 1 }],
  'things that are no messages': [
    [go, null as never, 7 as never, {} as never],
    { code: 'bad_message', at: 1 },
    { code: 'bad_message', at: 2 },
    { code: 'bad_message', at: 3 },
  ],
  'a conversation that the assistant begins': [[assistant('Welcome!'), go], { code: 'bad_start', at: 0 }],
}

const image = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: '' } }

/** Unusual but valid, in both forms. */
const right: Record<string, ApiMessage[]> = {
  'nothing at all': [],
  'results in another order than the calls': [go, assistant(call('a'), call('b')), user(result('b'), result('a'))],
  'a message for each result': [go, assistant(call('a'), call('b')), user(result('a')), user(result('b'))],
  'a reply in several messages': [
    go,
    assistant('hm'),
    assistant(call('a')),
    assistant(call('b')),
    user(result('b'), result('a')),
  ],
  'several messages of the user in a row': [go, user('and do'), user('it well')],
  'text after the results': [go, assistant(call('a')), user(result('a'), 'and now?'), user('well?')],
  'text after a call': [go, assistant(call('a'), 'that was it'), user(result('a'))],
  'calls of the server, paired in the reply': [
    go,
    assistant(
      { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} },
      { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] },
      { type: 'mcp_tool_use', id: 'mcptoolu_1', name: 'x', server_name: 's', input: {} },
      { type: 'mcp_tool_result', tool_use_id: 'mcptoolu_1', content: [] },
      { type: 'server_tool_use', id: 'srvtoolu_2', name: 'web_search', input: {} },
    ),
  ],
  'a result that says nothing': [
    go,
    assistant(call('a'), call('b'), call('c'), call('d')),
    user(
      result('a', ''),
      result('b', []),
      { type: 'tool_result', tool_use_id: 'c' },
      result('d', [{ type: 'text', text: '' }]),
    ),
  ],
  'white space beside something else': [go, assistant('\n\n', call('a')), user(result('a'), ' ')],
  'images and blocks that are new': [
    go,
    assistant({ type: 'thinking', thinking: '' }, call('a')),
    user(result('a', [image]), image),
  ],
  'a reply at the end': [go, assistant('done')],
}

const search = { type: 'server_tool_use', id: 'srvtoolu_1', name: 'web_search', input: {} }
const found = { type: 'web_search_tool_result', tool_use_id: 'srvtoolu_1', content: [] }

/** Invalid in messages that are sent as they are; our own messages are sent without it. */
const wrongInPlain: typeof wrong = {
  'a call without a name': [
    [go, assistant({ ...call('a'), name: '' }), user(result('a'))],
    { code: 'invalid_call', at: 1, block: 0, toolUseID: 'a' },
  ],
  'a call with too long a name': [
    [go, assistant({ ...call('a'), name: long }), user(result('a'))],
    { code: 'invalid_call', at: 1, block: 0, toolUseID: 'a' },
  ],
  'a made-up name': [
    [go, assistant({ ...call('a'), name: 'functions.Bash' }), user(result('a'))],
    { code: 'invalid_call', at: 1, block: 0, toolUseID: 'a' },
  ],
  'a call of the service without a result, and words after it': [
    [go, assistant(search), user('wait')],
    { code: 'unanswered_server_call', at: 1, block: 0, toolUseID: 'srvtoolu_1' },
  ],
  'a call of the service that is still open, and more than results after it': [
    [go, assistant(search, call('a')), user(result('a'), { type: 'text', text: 'wait' })],
    { code: 'unanswered_server_call', at: 1, block: 0, toolUseID: 'srvtoolu_1' },
  ],
  'a result of the service without its call': [
    [go, assistant(found, 'so')],
    { code: 'orphan_server_result', at: 1, block: 0, toolUseID: 'srvtoolu_1' },
  ],
}

const rightWithServerTools: Record<string, ApiMessage[]> = {
  'a call of the service with its result': [go, assistant(search, found, 'so')],
  'a turn that the service paused': [go, assistant('Let me see.', search)],
  'a paused turn that went on': [go, assistant(search), assistant(found, 'so')],
  'calls that code of the service makes, round after round': [
    go,
    assistant(search, { ...call('a'), caller: { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' } }),
    user(result('a')),
    assistant({ ...call('b'), caller: { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' } }),
    user(result('b')),
    assistant(found, 'so'),
  ],
}

describe('problems that only plain messages can have', () => {
  it.each(Object.entries(wrongInPlain))('L8 finds %s', (_title, [messages, ...problems]) => {
    expect(problemsOf(messages)).toEqual(problems)
    expect(checkTranscript(repairTranscript(messages).messages)).toEqual({ ok: true })
  })

  it.each(Object.entries(wrongInPlain))('L8 W5 own messages are sent without %s', (_title, [messages]) => {
    expect(problemsOf(asOwn(messages))).toEqual([])
    expect(checkTranscript(toApiMessages(asOwn(messages)))).toEqual({ ok: true })
  })

  it.each(Object.entries(rightWithServerTools))('L8 accepts %s', (_title, messages) => {
    expect(problemsOf(messages)).toEqual([])
    expect(repairTranscript(messages).messages).toEqual(messages)
  })

  it('L8 a call whose server code was removed loses its caller', () => {
    const made = { ...call('a'), caller: { type: 'code_execution_20260120', tool_id: 'srvtoolu_1' } }
    const { messages } = repairTranscript([
      go,
      assistant(search, made),
      user(result('a'), { type: 'text', text: 'no' }),
    ])
    expect(messages[1]).toEqual(assistant(call('a')))
  })
})

describe('inputs that are not a transcript', () => {
  it('L8 are not valid: a recording, lines of a log', () => {
    expect(problemsOf([{ type: 'frame' }, { type: 'frame' }])).toMatchObject([
      { code: 'bad_message', at: 0 },
      { code: 'bad_message', at: 1 },
    ])
  })

  it('L8 entries of other kinds among messages are ignored', () => {
    expect(problemsOf([{ type: 'summary' }, ...asOwn([go, assistant('done')])])).toEqual([])
  })
})

describe('checkTranscript', () => {
  it.each(Object.entries(wrong))('L8 finds %s', (_title, [messages, ...problems]) => {
    expect(problemsOf(messages)).toEqual(problems)
  })

  it.each(Object.entries(wrong))('L8 finds in own messages %s', (_title, [messages, ...problems]) => {
    expect(problemsOf(asOwn(messages))).toEqual(problems)
  })

  it.each(Object.entries(right))('L8 accepts %s', (_title, messages) => {
    expect(problemsOf(messages)).toEqual([])
    expect(problemsOf(asOwn(messages))).toEqual([])
  })

  it('L8 has a sentence for each problem', () => {
    const all = Object.values({ ...wrong, ...wrongInPlain }).flatMap(([messages]) => {
      const checked = checkTranscript(messages)
      return checked.ok ? [] : checked.problems
    })
    for (const { code, message } of all) {
      expect(message, code).toMatch(/^[A-Z].*[a-z}"0-9_-]\.$/)
    }
    expect(new Set(all.map(({ message }) => message)).size).toBeGreaterThan(20)
  })

  it('throws if it is not an array', () => {
    for (const nothing of [undefined, null, 'messages', { length: 1 }]) {
      const check = () => checkTranscript(nothing as never)
      expect(check).toThrow(/messages: expected an array, received/)
      expect(check).toThrow(expect.toSatisfy(isSignalboxError))
    }
  })
})

const foreign = [go, assistant(call('functions.Bash:0')), user(result('functions.Bash:0'))]

describe('plain messages', () => {
  it('L8 W1 are sent with their own ids, and the API does not accept all of them', () => {
    const expected = { code: 'invalid_call', at: 1, block: 0, toolUseID: 'functions.Bash:0' }
    expect(problemsOf(foreign)).toEqual([expected])
  })

  it('L8 are sent as they are: results come first', () => {
    const expected = { code: 'results_not_first', at: 2, block: 1, toolUseID: 'a' }
    expect(problemsOf([go, assistant(call('a')), user('look:', result('a'))])).toEqual([expected])
    const later = { code: 'results_not_first', at: 3, block: 0, toolUseID: 'a' }
    expect(problemsOf([go, assistant(call('a')), user('look:'), user(result('a'))])).toEqual([later])
  })

  it('L8 are from the user or the assistant', () => {
    expect(problemsOf([go, { role: 'tool', content: 'ok' }])).toEqual([{ code: 'wrong_role', at: 1 }])
    expect(problemsOf([{ role: 'system', content: 'be nice' }, go])).toEqual([{ code: 'wrong_role', at: 0 }])
  })

  it('L8 may be instructions in mid-conversation, but not before a result', () => {
    const rule = { role: 'system', content: 'be nice' }
    expect(problemsOf([go, rule, assistant(call('a')), user(result('a')), rule, assistant('yes')])).toEqual([])
    const expected = { code: 'results_not_first', at: 3, block: 0, toolUseID: 'a' }
    expect(problemsOf([go, assistant(call('a')), rule, user(result('a'))])).toEqual([expected])
  })

  it('L8 are each checked for being empty', () => {
    expect(problemsOf([go, user(), assistant('a'), assistant(' ')])).toEqual([
      { code: 'empty_message', at: 1 },
      { code: 'empty_message', at: 3 },
    ])
    expect(problemsOf([{ role: 'user', content: '' }])).toEqual([{ code: 'empty_message', at: 0 }])
  })

  it('L8 may be a reply as the API returned it', () => {
    const reply = { id: 'msg_1', type: 'message', ...assistant(call('a')), stop_reason: 'tool_use' }
    expect(problemsOf([go, reply, user(result('a'))])).toEqual([])
    expect(problemsOf([go, reply])).toEqual([{ code: 'unanswered_call', at: 1, block: 0, toolUseID: 'a' }])
  })
})

describe('own messages', () => {
  const [asked, called, answered] = asOwn([go, assistant(call('a')), user(result('a'))])
  const note = createAttachmentMessage({ type: 'note', content: 'mind the gap' })
  const progress = createProgressMessage({ toolUseID: 'a', parentToolUseID: 'a', data: 1 })
  const summary = createStopHookSummary({ hookInfos: [], hookErrors: [], preventedContinuation: false, stopReason: '' })

  it('L8 are checked as they are sent: results first, progress and system messages left out', () => {
    const typed = createUserMessage('and hurry')
    expect(problemsOf([asked, called, progress, summary, note, typed, answered])).toEqual([])
    expect(problemsOf([asked, called, progress, note])).toEqual([
      { code: 'unanswered_call', at: 1, block: 0, toolUseID: 'a' },
    ])
  })

  it('L8 W1 may have the ids of another service, which are cleaned when they are sent', () => {
    expect(problemsOf(asOwn(foreign))).toEqual([])
    expect(problemsOf(toApiMessages(asOwn(foreign)))).toEqual([])
    expect(problemsOf(asOwn(foreign.slice(0, 2)))).toMatchObject([{ code: 'unanswered_call' }])
    const again = [...foreign, ...foreign.slice(1)]
    expect(problemsOf(asOwn(again))).toMatchObject([{ code: 'duplicate_call_id', toolUseID: 'functions.Bash:0' }])
  })

  it('L8 an attachment ends a reply', () => {
    const [more, last] = asOwn([assistant(call('b')), user(result('b'), result('a'))])
    expect(problemsOf([asked, called, note, more, last])).toEqual([
      { code: 'result_too_late', at: 4, block: 1, toolUseID: 'a' },
    ])
  })

  it('L8 of one reply belong together, wherever its results came', () => {
    const part = (...content: ContentBlock[]) => createAssistantMessage(content, { id: 'msg_1' })
    const [a, b] = asOwn([user(result('a')), user(result('b'))])
    expect(problemsOf([asked, part(call('a')), a, part(call('b')), part(call('c')), b])).toEqual([
      { code: 'unanswered_call', at: 4, block: 0, toolUseID: 'c' },
    ])
    expect(problemsOf([asked, part(call('a')), part(call('b')), b, part({ type: 'text', text: 'hm' }), a])).toEqual([])
    const next = createAssistantMessage([{ type: 'text', text: 'hm' }])
    expect(problemsOf([asked, part(call('a')), part(call('b')), b, next, a])).toEqual([
      { code: 'result_too_late', at: 5, block: 0, toolUseID: 'a' },
    ])
  })

  it('L8 of the assistant need an id, which tells one reply from the next', () => {
    const nameless = { ...called, message: { role: 'assistant', content: [{ type: 'text', text: 'hm' }] } }
    expect(problemsOf([asked, nameless])).toEqual([{ code: 'bad_message', at: 1 }])
  })

  it('L8 that a retry discarded do not count', () => {
    const retry = createSystemMessage({ subtype: 'model_retry', discarded: [called?.uuid] })
    expect(problemsOf([asked, called, retry])).toEqual([])
    expect(problemsOf([asked, called, retry, answered])).toEqual([
      { code: 'orphan_result', at: 3, block: 0, toolUseID: 'a' },
    ])
  })

  it('L8 an empty user message does not end a turn', () => {
    const messages = [go, assistant(call('a')), user(), assistant(call('b')), user(result('b'), result('a'))]
    expect(problemsOf(asOwn(messages))).toEqual([])
  })

  it('L8 are empty only if all merged messages are', () => {
    const [start, blank, more, nothing] = asOwn([assistant(), assistant(' '), assistant('hm'), user()])
    expect(problemsOf([asked, start, blank, more, nothing])).toEqual([])
    expect(problemsOf([asked, start, blank, nothing])).toEqual([
      { code: 'empty_message', at: 1 },
      { code: 'empty_message', at: 2 },
    ])
    expect(problemsOf([createUserMessage('')])).toEqual([{ code: 'empty_message', at: 0 }])
  })

  it('L8 cannot be mixed with plain ones, which would be ignored', () => {
    expect(problemsOf([asked, called, user(result('a'))])).toEqual([{ code: 'bad_message', at: 2 }])
  })

  it('L8 of the assistant must contain blocks', () => {
    const [said] = asOwn([{ role: 'assistant', content: 'hm' }])
    expect(problemsOf([asked, said])).toEqual([{ code: 'bad_message', at: 1 }])
  })

  it('L8 may be among other entries of a session file', () => {
    expect(
      problemsOf([{ type: 'summary', summary: 'x' }, asked, { type: 'file-history-snapshot' }, called, answered]),
    ).toEqual([])
  })

  it('L8 an attachment message without a readable attachment is invalid', () => {
    expect(problemsOf([asked, { ...note, attachment: null }])).toEqual([{ code: 'bad_message', at: 1 }])
  })
})
