import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isSignalboxError } from '../../src/base/signalbox-error.ts'
import type { ApiMessage, ContentBlock, Message, UserMessage } from '../../src/index.ts'
import { createAssistantMessage } from '../../src/messages/create-messages.ts'
import { checkTranscript } from '../../src/transcripts/check-transcript.ts'
import type { CompactOptions, OldResult } from '../../src/transcripts/compact-options.ts'
import { compactToolResults } from '../../src/transcripts/compact-tool-results.ts'
import { bring, garbage } from './arbitrary-garbage.ts'
import { ownTranscript, plainTranscript } from './arbitrary-transcript.ts'
import { asOwn, assistant, call, result, user } from './messages.ts'

const long = 'line\n'.repeat(1_000)
const turn = (id: string, content: unknown = long): ApiMessage[] => [assistant(call(id)), user(result(id, content))]
const go = user('go')

/** The text of each result, in order. */
const contents = (messages: readonly (ApiMessage | Message)[]): unknown[] =>
  messages
    .map((message) => ('message' in message ? (message as UserMessage).message : (message as ApiMessage)).content)
    .flatMap((content) => (Array.isArray(content) ? content : []))
    .filter(({ type }) => type === 'tool_result')
    .map(({ content }) => content)

const stub = '[Old result removed to save space: 5000 characters. Look it up again if you need it.]'

describe('compactToolResults', () => {
  it('replaces older long results, and keeps the latest', async () => {
    const messages = [go, ...turn('a'), ...turn('b', 'short'), ...turn('c'), ...turn('d'), assistant('done')]
    const compacted = await compactToolResults(messages, { keepLast: 1 })
    expect(contents(compacted)).toEqual([stub, 'short', stub, long])
    expect(compacted[2]).toEqual(user(result('a', stub)))
    expect(checkTranscript(compacted)).toEqual({ ok: true })
  })

  it('keeps five by default, and results of up to 1,000 characters', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e', 'f', 'g']
    const sized = (id: string) => turn(id, 'x'.repeat(id === 'a' ? 1_000 : 1_001))
    const compacted = await compactToolResults([go, ...ids.flatMap(sized), assistant('done')])
    expect(contents(compacted).map((content) => String(content).startsWith('[Old result'))).toEqual([
      false,
      true,
      ...Array(5).fill(false),
    ])
  })

  it('keeps results that the model has not seen yet, however many', async () => {
    const seen = [go, ...turn('a')]
    const unseen = [assistant(call('b'), call('c')), user(result('b', long), result('c', long))]
    expect(contents(await compactToolResults([...seen, ...unseen], { keepLast: 0 }))).toEqual([stub, long, long])
    const begun = await compactToolResults([...seen, ...unseen, assistant()], { keepLast: 0 })
    expect(contents(begun)).toEqual([stub, long, long])
    const answered = await compactToolResults([...seen, ...unseen, assistant('hm')], { keepLast: 0 })
    expect(contents(answered)).toEqual([stub, stub, stub])
  })

  it('keeps results that arrived while the last reply was still streaming', async () => {
    const part = (reply: string, id: string) => createAssistantMessage([call(id)], { id: reply })
    const [a, b] = asOwn([user(result('a', long)), user(result('b', long))]) as Message[]
    const underWay = [part('x', 'a'), a, part('x', 'b'), b] as Message[]
    expect(contents(await compactToolResults(underWay, { keepLast: 0 }))).toEqual([long, long])
    const next = await compactToolResults([...underWay, part('y', 'c')], { keepLast: 0 })
    expect(contents(next)).toEqual([stub, stub])
  })

  it('keeps uuid, is_error and toolUseResult; does not change its argument', async () => {
    const [asked, called, answered, done] = asOwn([
      go,
      assistant(call('a')),
      user({ ...result('a', long), is_error: true }),
      assistant('done'),
    ]) as [Message, Message, UserMessage, Message]
    const shown = { ...answered, toolUseResult: { lines: 1_000 } }
    const compacted = await compactToolResults([asked, called, shown, done], { keepLast: 0 })
    expect(compacted[2]).toEqual({ ...shown, message: user({ ...result('a', stub), is_error: true }) })
    expect(
      [compacted[0], compacted[1], compacted[3]].every((each) => [asked, called, done].includes(each as Message)),
    ).toBe(true)
    expect(contents([answered])).toEqual([long])
  })

  it('replaces images and documents too, whatever their size', async () => {
    const image = { type: 'image', source: { type: 'url', url: 'https://x.y/z.png' } }
    const messages = [go, ...turn('a', [{ type: 'text', text: 'see' }, image, image]), assistant('done')]
    expect(contents(await compactToolResults(messages, { keepLast: 0 }))).toEqual([
      '[Old result removed to save space: 3 characters and 2 more blocks. Look it up again if you need it.]',
    ])
    expect(await compactToolResults(messages, { keepLast: 0, minChars: Infinity })).toEqual(messages)
  })

  it('never makes a result longer', async () => {
    const messages = [go, ...turn('a', 'ok'), assistant('done')]
    expect(await compactToolResults(messages, { keepLast: 0, minChars: 0 })).toEqual(messages)
  })

  it('asks for a summary, one result after the other', async () => {
    const seen: OldResult[] = []
    let running = 0
    const summarize = async (old: OldResult) => {
      expect(++running).toBe(1)
      await Promise.resolve()
      running--
      seen.push(old)
      return `${old.toolName} said a lot`
    }
    const failed = {
      ...result('b', [
        { type: 'text', text: long },
        { type: 'text', text: 'end' },
      ]),
      is_error: true,
    }
    const messages = [go, ...turn('a'), assistant(call('b')), user(failed), assistant('done')]
    const compacted = await compactToolResults(messages, { keepLast: 0, summarize })
    expect(contents(compacted)).toEqual(Array(2).fill('[Old result summarized to save space.]\nBash said a lot'))
    expect(seen).toEqual([
      { toolUseID: 'a', toolName: 'Bash', text: long, isError: false },
      { toolUseID: 'b', toolName: 'Bash', text: `${long}\nend`, isError: true },
    ])
    const again = await compactToolResults(compacted, { keepLast: 0, minChars: 0, summarize })
    expect(again).toEqual(compacted)
    expect(seen.length).toBe(2)
  })

  it.each<[string, () => unknown]>([
    [
      'throws',
      () => {
        throw new Error('no')
      },
    ],
    ['rejects', () => Promise.reject(new Error('no'))],
    ['returns nothing', () => undefined],
    ['returns white space', () => ' \n'],
    ['returns something else', () => ({ summary: 'x' })],
    ['returns more than there was', () => long],
  ])('removes the result without a summary if the summary %s', async (_what, summarize) => {
    const messages = [go, ...turn('a'), assistant('done')]
    const options = { keepLast: 0, summarize } as CompactOptions
    expect(contents(await compactToolResults(messages, options))).toEqual([stub])
  })

  it('keeps every valid transcript valid, and compacts it once', async () => {
    const transcripts = fc.oneof<fc.Arbitrary<unknown[]>[]>(plainTranscript, ownTranscript)
    const options = fc.record({ keepLast: fc.nat(4), minChars: fc.nat(20) })
    await fc.assert(
      fc.asyncProperty(transcripts, options, async (messages, chosen) => {
        const summarize = () => 's'
        lengthen(messages)
        const compacted = await compactToolResults(messages, { ...chosen, summarize })
        expect(checkTranscript(compacted)).toEqual({ ok: true })
        // without its thinking, more of a conversation may be compacted
        if (JSON.stringify(messages).includes('thinking')) return
        const again = await compactToolResults(compacted, { ...chosen, summarize })
        expect(again.every((message, index) => message === compacted[index])).toBe(true)
      }),
      { numRuns: 500 },
    )
  })

  it('keeps unreadable messages unchanged', async () => {
    await fc.assert(
      fc.asyncProperty(garbage, async (given) => {
        const messages = bring(given) as unknown[]
        const compacted = await compactToolResults(messages, { keepLast: 0, minChars: 0 })
        expect(compacted.length).toBe(messages.length)
        if (checkTranscript(messages).ok) expect(checkTranscript(compacted).ok).toBe(true)
      }),
      { numRuns: 1_000 },
    )
  })

  it.each<[unknown, string]>([
    [{ keepLast: -1 }, 'keepLast: expected an integer of at least 0, or Infinity, received -1.'],
    [{ keepLast: 1.5 }, 'keepLast: expected an integer of at least 0, or Infinity, received 1.5.'],
    [{ minChars: '9' }, 'minChars: expected an integer of at least 0, or Infinity, received "9".'],
    [{ summarize: 'x' }, 'summarize: expected a function, received "x".'],
    [{ keep: 1 }, 'Unknown option keep. Known options: keepLast, minChars, summarize.'],
    [null, 'options: expected an object, received null.'],
  ])('rejects %j', async (options, message) => {
    const refused = compactToolResults([], options as CompactOptions)
    await expect(refused).rejects.toThrow(message)
    await expect(refused).rejects.toSatisfy(isSignalboxError)
  })

  it('rejects a value that is not an array', async () => {
    await expect(compactToolResults({} as never)).rejects.toThrow('messages: expected an array, received {}.')
  })
})

/** Long enough to be compacted. */
function lengthen(messages: readonly unknown[]): void {
  for (const message of messages as { message?: { content: unknown }; content?: unknown }[]) {
    const content = message.message?.content ?? message.content
    for (const block of Array.isArray(content) ? (content as ContentBlock[]) : []) {
      if (block.type === 'tool_result') block.content = `${block.content} ${'x'.repeat(200)}`
    }
  }
}

describe('models that bind their thinking', () => {
  const thought = (signature = 'c2ln') => ({ type: 'thinking', thinking: 'Hm.', signature })
  const long = 'x'.repeat(2_000)
  const turn = (id: string, ...before: object[]) => [
    { role: 'assistant', content: [...before, { type: 'tool_use', id, name: 'Read', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: id, content: long }] },
  ]
  const prompt = { role: 'user', content: 'And then?' }
  const compact = (messages: object[]) => compactToolResults(messages, { keepLast: 0 })
  const typesOf = (messages: object[]) =>
    (messages as { content: string | { type: string; content?: string }[] }[]).map(({ content }) =>
      typeof content === 'string'
        ? content
        : content.map(({ type, content: said }) => (said === long ? 'long' : type)).join(),
    )

  it('keep the messages before their thinking during a turn', async () => {
    const messages = [prompt, ...turn('a', thought()), ...turn('b', thought()), ...turn('c')]
    expect(await compact(messages)).toEqual(messages)
  })

  it.each([
    ['a signature of Anthropic', { ai_sdk: { anthropic: { signature: 'c2ln' } } }, true],
    ['redacted thinking of Anthropic', { ai_sdk: { anthropic: { redactedData: 'eHh4' } } }, true],
    ['a signature of Bedrock', { ai_sdk: { bedrock: { signature: 'c2ln' } } }, true],
    ['reasoning of OpenAI', { ai_sdk: { openai: { itemId: 'rs_1', reasoningEncryptedContent: 'gAAA' } } }, false],
    ['reasoning of a chat', { openai_chat: { field: 'reasoning_content' } }, false],
  ])('are recognized in what adapters keep: %s', async (_, kept, isBound) => {
    const messages = [prompt, ...turn('a', thought(JSON.stringify(kept))), ...turn('b')]
    const [, , result] = typesOf(await compact(messages))
    expect(result).toBe(isBound ? 'long' : 'tool_result')
  })

  it('lose old thinking with the results it was bound to, at the next prompt', async () => {
    const messages = [
      prompt,
      ...turn('a', thought()),
      ...turn('b', thought()),
      { role: 'assistant', content: 'So.' },
      prompt,
    ]
    expect(typesOf(await compact(messages))).toEqual([
      'And then?',
      'thinking,tool_use',
      'tool_result',
      'tool_use',
      'tool_result',
      'So.',
      'And then?',
    ])
  })

  it('keep thinking that is part of no reply', async () => {
    const [, orphan] = turn('z') as [object, object]
    const stray = { role: 'user', content: [thought()] }
    const messages = [orphan, stray, ...turn('a', thought()), { role: 'assistant', content: 'So.' }, prompt]
    expect(typesOf(await compact(messages))).toEqual([
      'tool_result',
      'thinking',
      'tool_use',
      'tool_result',
      'So.',
      'And then?',
    ])
  })

  it('see the same beginning before every request of a turn', async () => {
    const before = [prompt, ...turn('a', thought()), { role: 'assistant', content: 'So.' }, prompt]
    const whole = [...before, ...turn('b', thought()), ...turn('c', thought())]
    const first = await compact(before)
    for (const length of [before.length + 2, whole.length]) {
      expect((await compact(whole.slice(0, length))).slice(0, first.length)).toEqual(first)
    }
  })

  it('get the same summary of a result in every request', async () => {
    let asked = 0
    const summarize = () => `summary ${++asked}`
    const messages = [prompt, ...turn('a', thought()), { role: 'assistant', content: 'So.' }, prompt]
    const first = await compactToolResults(messages, { keepLast: 0, summarize })
    expect(await compactToolResults(messages, { keepLast: 0, summarize })).toEqual(first)
    expect(asked).toBe(1)
  })
})
