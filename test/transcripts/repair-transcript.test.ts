import { describe, expect, it } from 'vitest'
import { isSignalboxError } from '../../src/base/signalbox-error.ts'
import type { ApiMessage, Message, UserMessage } from '../../src/index.ts'
import {
  createAssistantMessage,
  createAttachmentMessage,
  createProgressMessage,
} from '../../src/messages/create-messages.ts'
import { toApiMessages } from '../../src/messages/to-api-messages.ts'
import { checkTranscript } from '../../src/transcripts/check-transcript.ts'
import { repairTranscript } from '../../src/transcripts/repair-transcript.ts'
import { transcriptTexts } from '../../src/transcripts/transcript-texts.ts'
import { asOwn, assistant, call, result, user } from './messages.ts'

const go = user('go')
const idsAndTime = { uuid: () => 'new', now: () => 0 }
const lost = (id: string) => ({ ...result(id, transcriptTexts.lostResult.content), is_error: true })

const repaired = (messages: readonly unknown[]): ApiMessage[] => {
  const { messages: mended } = repairTranscript(messages)
  expect(checkTranscript(mended)).toEqual({ ok: true })
  return mended as ApiMessage[]
}

/** The changes in words: `code done`, and the new id. */
const doneTo = (messages: readonly unknown[]): string[] =>
  repairTranscript(messages).changes.map(({ code, done, newToolUseID }) =>
    [code, done, ...(newToolUseID === undefined ? [] : [newToolUseID])].join(' '),
  )

describe('damage from practice', () => {
  it('L8 a call without a result gets one that says so', () => {
    const messages = [go, assistant('I run it.', call('a'))]
    expect(repaired(messages)).toEqual([...messages, user(lost('a'))])
    expect(doneTo(messages)).toEqual(['unanswered_call added'])
    expect(transcriptTexts.lostResult.content).toContain('may or may not have run')
  })

  it('L8 one of several calls gets a missing result, beside the existing ones', () => {
    const messages = [go, assistant(call('a'), call('b'), call('c')), user(result('b'), 'stop!')]
    expect(repaired(messages)).toEqual([...messages.slice(0, 2), user(result('b'), lost('a'), lost('c'), 'stop!')])
  })

  it('L8 the user went on after an Esc: the missing result comes before the new message', () => {
    const messages = [go, assistant(call('a')), { role: 'user', content: 'Do something else.' }]
    expect(repaired(messages)).toEqual([go, assistant(call('a')), user(lost('a'), 'Do something else.')])
  })

  it('L8 the assistant continued without the result', () => {
    const messages = [go, assistant(call('a')), user('hm'), assistant('Well.')]
    expect(repaired(messages)).toEqual([go, assistant(call('a')), user(lost('a'), 'hm'), assistant('Well.')])
  })

  it('L8 a block that was repeated by a reconnect is one call', () => {
    const twice = [go, assistant(call('a', { n: 1 }), call('a', { n: 1 })), user(result('a'))]
    expect(repaired(twice)).toEqual([go, assistant(call('a', { n: 1 })), user(result('a'))])
    expect(doneTo(twice)).toEqual(['duplicate_call_id dropped'])
  })

  it('L8 the same call in a later reply, or under another name, is a separate call', () => {
    const later = [go, assistant(call('a')), user(result('a')), assistant(call('a'))]
    expect(repaired(later)).toEqual([...later.slice(0, 3), assistant(call('a_2')), user(lost('a_2'))])
    const named = { ...call('a'), name: 'Read' }
    expect(repaired([go, assistant(call('a'), named), user(result('a'))])).toEqual([
      go,
      assistant(call('a'), { ...named, id: 'a_2' }),
      user(result('a'), lost('a_2')),
    ])
  })

  it('L8 a message that was repeated by a reconnect is one message', () => {
    const twice = [go, assistant(call('a')), assistant(call('a')), user(result('a'))]
    expect(repaired(twice)).toEqual([go, assistant(call('a')), user(result('a'))])
  })

  it('L8 a repeated result is removed, the first one stays', () => {
    const messages = [go, assistant(call('a')), user(result('a', 'first')), user(result('a', 'second'), 'next')]
    expect(repaired(messages)).toEqual([go, assistant(call('a')), user(result('a', 'first')), user('next')])
  })

  it('L8 a real result replaces one that an earlier repair added', () => {
    const once = repairTranscript([go, assistant(call('a')), user('hm'), assistant('Well.')]).messages
    expect(repaired([...once, user(result('a'), 'next')])).toEqual([
      go,
      assistant(call('a')),
      user(result('a'), 'hm'),
      assistant('Well.'),
      user('next'),
    ])
    expect(repaired([...once, user(lost('a')), user(result('a'))])).toContainEqual(user(result('a'), 'hm'))
    expect(doneTo([...once, user(result('a'))])).toEqual(['duplicate_result dropped', 'result_too_late moved'])
  })

  it('L8 a history without its beginning loses results without calls, and begins with the user', () => {
    const messages = [user(result('z')), assistant('So.', call('a')), user(result('a'))]
    expect(repaired(messages)).toEqual([user(transcriptTexts.lostBeginning), ...messages.slice(1)])
    expect(doneTo(messages)).toEqual(['orphan_result dropped', 'bad_start added'])
  })

  it('L8 results that came late are moved to their call', () => {
    const messages = [go, assistant(call('a'), call('b')), user(result('a')), assistant('hm'), user(result('b'), 'ok?')]
    expect(repaired(messages)).toEqual([
      go,
      assistant(call('a'), call('b')),
      user(result('a'), result('b')),
      assistant('hm'),
      user('ok?'),
    ])
    expect(doneTo(messages)).toEqual(['result_too_late moved'])
  })

  it('L8 a result before its call is moved behind it', () => {
    const messages = [go, user(result('a')), assistant(call('a')), user('next')]
    expect(repaired(messages)).toEqual([go, assistant(call('a')), user(result('a'), 'next')])
    expect(doneTo(messages)).toEqual(['result_too_early moved'])
  })

  it('L8 text before the results moves after them', () => {
    const messages = [go, assistant(call('a'), call('b')), user('look:', result('a')), user(result('b'))]
    expect(repaired(messages)).toEqual([go, assistant(call('a'), call('b')), user(result('a'), result('b'), 'look:')])
  })

  it('L8 a provider that restarts its ids in each turn: the later ones get new ids', () => {
    const turn = (content: string) => [assistant(call('call_0')), user(result('call_0', content))]
    const messages = [go, ...turn('first'), ...turn('second'), ...turn('third')]
    expect(repaired(messages)).toEqual([
      go,
      ...turn('first'),
      assistant(call('call_0_2')),
      user(result('call_0_2', 'second')),
      assistant(call('call_0_3')),
      user(result('call_0_3', 'third')),
    ])
    expect(doneTo(messages)).toEqual(['duplicate_call_id rewritten call_0_2', 'duplicate_call_id rewritten call_0_3'])
  })

  it('L8 a reused id whose first call was lost: the result goes to the call before it', () => {
    const messages = [go, assistant(call('a')), user('stop'), assistant(call('a')), user(result('a', 'second'))]
    expect(repaired(messages)).toEqual([
      go,
      assistant(call('a')),
      user(lost('a'), 'stop'),
      assistant(call('a_2')),
      user(result('a_2', 'second')),
    ])
  })

  it('L8 ids of another provider become valid ids, in the call and in its result', () => {
    const messages = [go, assistant(call('functions.Bash:0')), user(result('functions.Bash:0'))]
    expect(repaired(messages)).toEqual([
      go,
      assistant(call('functions_Bash_0')),
      user(result('functions_Bash_0', 'functions.Bash:0 said')),
    ])
  })

  it('L8 W1 in own messages they stay, because that service needs them back', () => {
    const messages = asOwn([go, assistant(call('functions.Bash:0')), user(result('functions.Bash:0'))])
    expect(repaired(messages)).toEqual(messages)
  })

  it('L8 a new id is unused', () => {
    const messages = [
      go,
      assistant(call('a.b'), call('a_b'), call('a_b_2')),
      user(result('a.b'), result('a_b'), result('a_b_2')),
    ]
    expect(doneTo(messages)).toEqual(['invalid_call rewritten a_b_3'])
  })

  it('L8 calls and results without ids are paired in order', () => {
    const nameless = (n: number) => ({ type: 'tool_use', name: 'Bash', input: { n } })
    const messages = [
      go,
      assistant(nameless(1), nameless(2)),
      user({ type: 'tool_result', content: '1' }, { type: 'tool_result', content: '2' }),
    ]
    expect(repaired(messages)).toEqual([
      go,
      assistant({ ...nameless(1), id: 'call' }, { ...nameless(2), id: 'call_2' }),
      user(result('call', '1'), result('call_2', '2')),
    ])
  })

  it('L8 a call cut off in mid-stream can be sent', () => {
    const messages = [go, assistant({ type: 'tool_use', id: 'a', name: '', input: '{"comm' })]
    expect(repaired(messages)).toEqual([go, assistant({ ...call('a'), name: 'unknown_tool' }), user(lost('a'))])
  })

  it('L8 an empty reply is removed', () => {
    expect(repaired([go, assistant(), user('hello?'), assistant('', 'Yes.')])).toEqual([
      go,
      user('hello?'),
      assistant('Yes.'),
    ])
  })

  it('L8 a result in the reply is put behind it, and the reply is split there', () => {
    expect(repaired([go, assistant('hm', call('a'), result('a'), 'done')])).toEqual([
      go,
      assistant('hm', call('a')),
      user(result('a')),
      assistant('done'),
    ])
  })

  it('L8 a call in a message of the user becomes the assistant’s', () => {
    expect(repaired([user('go', call('a')), user(result('a'))])).toEqual([go, assistant(call('a')), user(result('a'))])
  })

  it('L8 a result of an unusual shape is kept', () => {
    const odd = [go, assistant(call('a'), call('b')), user(result('a', { lines: 2 }), result('b', ['x', null]))]
    const texts = [
      { type: 'text', text: 'x' },
      { type: 'text', text: 'null' },
    ]
    expect(repaired(odd)).toEqual([...odd.slice(0, 2), user(result('a', '{"lines":2}'), result('b', texts))])
    const silent = [go, assistant(call('a')), user({ ...result('a', null), is_error: true })]
    expect(repaired(silent)).toEqual([
      ...silent.slice(0, 2),
      user({ ...result('a', transcriptTexts.emptyError), is_error: true }),
    ])
  })

  it('L8 a block that cannot be copied keeps its content under a new id', () => {
    const seal = <Block extends object>(block: Block): Block =>
      new Proxy(block, {
        ownKeys() {
          throw new Error('no keys')
        },
      })
    const failed = (id: string) => ({ ...result(id, 'no'), is_error: true })
    const input = { command: 'ls' }
    expect(repaired([go, assistant(seal(call('a.b', input))), user(seal(failed('a.b')))])).toEqual([
      go,
      assistant(call('a_b', input)),
      user(failed('a_b')),
    ])
  })

  it('L8 messages of other roles become the user’s', () => {
    const messages = [{ role: 'system', content: 'Be nice.' }, go, assistant('hm'), { role: 'tool', content: 'ok' }]
    expect(repaired(messages)).toEqual([user('Be nice.'), go, assistant('hm'), user('ok')])
  })

  it('L8 instructions in mid-conversation stay in place, after the results', () => {
    const rule = { role: 'system', content: 'Be nice.' }
    expect(repaired([go, assistant(call('a')), rule, user(result('a'))])).toEqual([
      go,
      assistant(call('a')),
      user(result('a')),
      rule,
    ])
    expect(repaired([user(result('z')), rule, assistant('hm')])).toEqual([
      user(transcriptTexts.lostBeginning),
      rule,
      assistant('hm'),
    ])
  })
})

describe('own messages', () => {
  const [asked, called] = asOwn([go, assistant(call('a'), call('b'))]) as [Message, Message]
  const progress = createProgressMessage({ toolUseID: 'a', parentToolUseID: 'a', data: 1 })

  it('L8 keep their form: an added result is a message like those of the executor', () => {
    const { messages } = repairTranscript([asked, called, progress], idsAndTime)
    const { content, toolUseResult } = transcriptTexts.lostResult
    const made = (id: string) => ({
      type: 'user',
      uuid: 'new',
      timestamp: '1970-01-01T00:00:00.000Z',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content, is_error: true }] },
      toolUseResult,
      sourceToolAssistantUUID: 'u1',
    })
    expect(messages).toEqual([asked, called, progress, made('a'), made('b')])
    expect(messages.slice(0, 3).every((message, index) => message === [asked, called, progress][index])).toBe(true)
  })

  it('L8 a moved result stays the same message, with its toolUseResult', () => {
    const [hm, late, more] = asOwn([assistant('hm'), user(result('a')), user(result('b'))]) as Message[]
    const shown = { ...(late as UserMessage), toolUseResult: { lines: 2 } }
    const { messages } = repairTranscript([asked, called, more as Message, hm as Message, shown])
    expect(messages).toEqual([asked, called, more, shown, hm])
    expect(messages[3]).toBe(shown)
  })

  it('L8 one of several results in a message is moved alone', () => {
    const [hm, both] = asOwn([assistant('hm', call('c')), user(result('a'), result('c'))]) as Message[]
    const [b] = asOwn([user(result('b'))]) as Message[]
    const { messages } = repairTranscript([asked, called, b, hm, both] as Message[], idsAndTime)
    expect(messages.map(({ uuid }) => uuid)).toEqual(['u0', 'u1', 'u0', 'new', 'u0', 'u1'])
    expect((messages[3] as UserMessage).message.content).toEqual([result('a')])
    expect((messages[3] as UserMessage).sourceToolAssistantUUID).toBe('u1')
    expect((messages[5] as UserMessage).message.content).toEqual([result('c')])
  })

  it('L8 are removed if nothing is left of them, and stay if they were harmlessly empty', () => {
    const [husk, empty, done] = asOwn([user(''), user(), assistant('done')]) as Message[]
    expect(repairTranscript([asked, husk, empty, done] as Message[]).messages).toEqual([asked, empty, done])
  })

  it('L8 keep their fields where blocks are rewritten', () => {
    const [bad] = asOwn([assistant('', call('a', 'no object'))]) as Message[]
    const mended = repairTranscript([asked, { ...bad, cost: 7 } as never]).messages[1]
    expect(mended).toMatchObject({ type: 'assistant', uuid: 'u0', cost: 7, message: { content: [call('a')] } })
  })

  it('L8 of the assistant without an id get one, which separates replies', () => {
    const nameless = (text: string) => ({
      type: 'assistant',
      uuid: 'x',
      message: { content: [{ type: 'text', text }] },
    })
    const given = [asked, nameless('one'), asked, nameless('two')]
    expect(doneTo(given)).toEqual(['bad_message rewritten', 'bad_message rewritten'])
    const { messages } = repairTranscript(given)
    expect(toApiMessages(messages as Message[])).toEqual([go, assistant('one'), go, assistant('two')])
    expect(messages[3]).toEqual({
      type: 'assistant',
      uuid: 'x',
      message: { id: 'msg_repaired_2', ...assistant('two') },
    })
  })

  it('L8 of one reply stay together: an added result comes after all of them', () => {
    const part = (id: string) => createAssistantMessage([call(id)], { id: 'msg_1' })
    const [a] = asOwn([user(result('a'))]) as Message[]
    const reply = [part('a'), a as Message, part('b')]
    const { messages } = repairTranscript([asked, ...reply])
    expect(messages.slice(0, 4)).toEqual([asked, ...reply])
    expect(toApiMessages(messages)).toEqual([go, assistant(call('a'), call('b')), user(result('a'), lost('b'))])
  })

  it('L8 of a reply that was started twice are removed, except its first message', () => {
    const part = (reply: string, id: string) => createAssistantMessage([call(id)], { id: reply })
    const [a, b] = asOwn([user(result('a')), user(result('b'))]) as Message[]
    const doubled = [asked, part('x', 'a'), part('x', 'a'), a] as Message[]
    expect(repairTranscript(doubled).messages).toEqual([asked, doubled[1], a])
    const { messages } = repairTranscript([asked, part('x', 'a'), part('y', 'a'), a, part('y', 'b'), b] as Message[])
    expect(toApiMessages(messages)).toEqual([go, assistant(call('a'), call('b')), user(result('a'), result('b'))])
  })

  it('L8 plain messages among them are converted', () => {
    const { messages, changes } = repairTranscript([asked, called, user(result('a'), result('b'))], idsAndTime)
    expect(changes.map(({ code, at, done }) => [code, at, done])).toEqual([['bad_message', 2, 'rewritten']])
    expect(messages[2]).toMatchObject({ type: 'user', uuid: 'new', message: user(result('a'), result('b')) })
  })

  it('L8 can be sent after the repair, results before attachments and text', () => {
    const note = createAttachmentMessage({ type: 'note', content: 'n' })
    const [b] = asOwn([user('look:', result('b'))]) as Message[]
    const sent = toApiMessages(repairTranscript([asked, called, note, b] as Message[]).messages)
    expect(sent[2]?.content).toEqual([
      result('b'),
      lost('a'),
      { type: 'text', text: '<note>\nn\n</note>' },
      { type: 'text', text: 'look:' },
    ])
  })
})

describe('repairTranscript', () => {
  it('returns a new array even if nothing was wrong', () => {
    const messages = [go]
    expect(repairTranscript(messages).messages).not.toBe(messages)
  })

  it('reports the repairs of the problems that the check finds, in order', () => {
    const messages = [assistant('', call('a')), user(result('z'), result('a', null))]
    const { changes } = repairTranscript(messages)
    const checked = checkTranscript(messages)
    expect(checked.ok ? [] : checked.problems).toEqual(changes.map(({ done, newToolUseID, ...problem }) => problem))
    expect(changes.map(({ at }) => at)).toEqual(changes.map(({ at }) => at).sort())
  })

  it('throws if it is not an array', () => {
    expect(() => repairTranscript(null as never)).toThrow(expect.toSatisfy(isSignalboxError))
  })

  it('handles long transcripts', () => {
    const turns = Array.from({ length: 50_000 }, (_, n) => [
      assistant(call(`a${n % 100}`)),
      user(result(`a${n % 100}`), 'next'),
    ])
    const { messages, changes } = repairTranscript([go, ...turns.flat()])
    expect(changes.length).toBe(49_900)
    expect(checkTranscript(messages)).toEqual({ ok: true })
  })

  it('handles long turns', () => {
    const ids = Array.from({ length: 50_000 }, (_, n) => `a${n}`)
    const messages = [go, assistant(...ids.map((id) => call(id)), ...ids.map((id) => call(id))), user('hm')]
    expect(repairTranscript(messages).changes.length).toBe(100_000)
    expect(repairTranscript(asOwn(messages)).changes.length).toBe(100_000)
  })
})
