import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Message } from '../../src/index.ts'
import { createAssistantMessage, createUserMessage } from '../../src/messages/create-messages.ts'
import { answerOpenCalls } from '../../src/transcripts/answer-open-calls.ts'
import { repairTranscript } from '../../src/transcripts/index.ts'
import { damaged } from './arbitrary-damage.ts'
import { ownTranscript } from './arbitrary-transcript.ts'
import { asOwn, assistant, call, result, user } from './messages.ts'

const numRuns = process.env.SIGNALBOX_FULL ? 10_000 : 1_000

/** Ids and times that are the same in every run. */
const fixed = () => {
  let number = 0
  return { uuid: () => `new-${number++}`, now: () => 0 }
}
const none = () => false
const answered = (messages: readonly Message[]) => answerOpenCalls(messages, none, fixed())

/** Results are lost more often than anything else here. */
const withoutSomeResults = fc
  .tuple(ownTranscript, fc.array(fc.boolean(), { minLength: 20, maxLength: 20 }))
  .map(([messages, lost]) =>
    messages.filter(
      (message, at) => message.type !== 'user' || typeof message.message.content === 'string' || !lost[at],
    ),
  )

describe('answers to the open calls of a transcript', () => {
  it.each([
    ['results that are missing', withoutSomeResults],
    ['any damage', damaged(ownTranscript)],
  ])('L8 are those of the repair, if nothing else is wrong: %s', (_, transcript) => {
    let open = 0
    fc.assert(
      fc.property(transcript, (messages) => {
        const { messages: repaired, changes } = repairTranscript(messages, fixed())
        if (changes.some(({ code }) => code !== 'unanswered_call')) return
        open += changes.length
        expect(answered(messages)).toEqual(repaired)
      }),
      { numRuns },
    )
    expect(open).toBeGreaterThan(numRuns / 30)
  })

  it('L8 leave every given message in its place, whatever else is wrong, and leave no call open', () => {
    fc.assert(
      fc.property(damaged(ownTranscript), (messages) => {
        const known = new Set<unknown>(messages)
        const first = answered(messages)
        expect(first.filter((message) => known.has(message))).toEqual(messages)
        expect(answered(first)).toBe(first)
      }),
      { numRuns },
    )
  })

  it('L8 are not given to calls that are left open', () => {
    const messages = asOwn([user('go'), assistant(call('a'), call('b'))])
    const added = answerOpenCalls(messages, ({ id }) => id === 'a', fixed()).slice(messages.length)
    expect(added).toMatchObject([{ message: { content: [{ tool_use_id: 'b', is_error: true }] } }])
  })

  it('L8 a block that was sent twice gets one answer', () => {
    const messages = asOwn([user('go'), assistant(call('a'), call('a'))])
    expect(answered(messages)).toHaveLength(messages.length + 1)
    const whole = asOwn([user('go'), assistant(call('a'), call('a')), user(result('a'))])
    expect(answered(whole)).toBe(whole)
  })

  it('L8 the second call with an id gets its own answer, in its own turn', () => {
    const turns = [user('go'), assistant(call('a')), user(result('a')), assistant(call('a')), user('and then?')]
    const messages = asOwn(turns)
    expect(answered(messages).map((message) => messages.indexOf(message))).toEqual([0, 1, 2, 3, -1, 4])
  })

  it('L8 a message that cannot be read is passed over', () => {
    const unreadable = {
      ...createAssistantMessage([]),
      message: {
        get content(): never {
          throw new Error('no')
        },
      },
    } as unknown as Message
    const messages = [createUserMessage('go'), unreadable, { type: 'user', content: 'x' } as unknown as Message]
    expect(answered(messages)).toBe(messages)
  })
})
