import { describe, expect, expectTypeOf, it } from 'vitest'
import {
  type AssistantMessage,
  type ContentBlock,
  createAssistantMessage,
  createAttachmentMessage,
  createProgressMessage,
  createStopHookSummary,
  createToolResultMessage,
  createUserMessage,
  type Message,
  type ToolUseBlock,
  toApiMessages,
} from '../../src/index.ts'
import { abortText } from '../../src/results/result-texts.ts'
import { heldTool } from '../support/held-tool.ts'
import { drain, flush, resultOf, testTurn, toolUse } from '../support/turn.ts'

const idsAndTime = { uuid: () => 'u-1', now: () => 0 }
const stamp = { uuid: 'u-1', timestamp: '1970-01-01T00:00:00.000Z' }

describe('shapes', () => {
  it('W1 W2 a call is a tool_use block of an assistant message', () => {
    const block: ToolUseBlock = toolUse('toolu_1', 'Read', { a: 1 })
    const message = createAssistantMessage([block], { id: 'msg_1', model: 'm' }, idsAndTime)
    expect(message).toEqual({
      type: 'assistant',
      ...stamp,
      message: { id: 'msg_1', role: 'assistant', model: 'm', content: [block] },
    })
    expectTypeOf(message).toEqualTypeOf<AssistantMessage>()
  })

  it('W3 a result is a user message in the shape of the API, with the raw data beside it', async () => {
    const read = heldTool('Read')
    const { add, executor, message } = testTurn([read.tool], { uuid: () => 'u-1' })
    add('a', 'Read')
    read.run('a').finish({ data: { lines: 2 } })
    const [update] = await drain(executor)
    expect(update?.message).toEqual({
      type: 'user',
      uuid: 'u-1',
      timestamp: '1970-01-01T00:00:00.000Z',
      message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: '{"lines":2}' }] },
      toolUseResult: { lines: 2 },
      sourceToolAssistantUUID: message.uuid,
    })
  })

  it('W4 progress names the call, its parent and the other calls of the reply', async () => {
    const read = heldTool('Read', { safe: true })
    const { add, executor } = testTurn([read.tool], { uuid: () => 'u-1' })
    add('a', 'Read')
    add('b', 'Read')
    read.run('a').progress({ percent: 50 })
    const [update] = [...executor.getCompletedResults()]
    expect(update?.message).toEqual({
      type: 'progress',
      ...stamp,
      toolUseID: 'a',
      parentToolUseID: 'a',
      siblingToolUseIDs: ['b'],
      data: { percent: 50 },
    })
  })

  it('W5 toApiMessages: results first, attachments as text after them, progress left out', () => {
    const calls = [toolUse('a', 'Read'), toolUse('b', 'Read')]
    const source = { sourceToolAssistantUUID: 'x' }
    const result = (id: string) => ({ type: 'tool_result' as const, tool_use_id: id, content: id })
    const transcript: Message[] = [
      createUserMessage('go', idsAndTime),
      createAssistantMessage([{ type: 'text', text: 'well' }], {}, idsAndTime),
      createAssistantMessage([...calls], {}, idsAndTime),
      createProgressMessage({ toolUseID: 'a', parentToolUseID: 'a', data: 1 }, idsAndTime),
      createToolResultMessage(result('a'), source, idsAndTime),
      createAttachmentMessage({ type: 'hook_additional_context', content: 'mind the gap' }, 'a', idsAndTime),
      createToolResultMessage(result('b'), source, idsAndTime),
      createAttachmentMessage({ type: 'structured_output', data: { ok: 1 } }, 'b', idsAndTime),
    ]
    expect(toApiMessages(transcript)).toEqual([
      { role: 'user', content: [{ type: 'text', text: 'go' }] },
      { role: 'assistant', content: [{ type: 'text', text: 'well' }, ...calls] },
      {
        role: 'user',
        content: [
          result('a'),
          result('b'),
          { type: 'text', text: '<hook_additional_context>\nmind the gap\n</hook_additional_context>' },
          { type: 'text', text: '<structured_output>\n{"data":{"ok":1}}\n</structured_output>' },
        ],
      },
    ])
  })

  it('W1 W5 L8 toApiMessages: ids are valid for the API, and the same in a call and its result', () => {
    const ids = (...given: string[]) => {
      const calls = given.map((id) => ({ type: 'tool_use' as const, id, name: 'Read', input: {} }))
      const results = given.map((id) => ({ type: 'tool_result' as const, tool_use_id: id, content: id }))
      const sent = toApiMessages([createAssistantMessage(calls), createUserMessage(results)])
      const [called, answered] = sent.map(({ content }) =>
        (content as ContentBlock[]).map(({ id, tool_use_id }) => id ?? tool_use_id),
      )
      expect(answered).toEqual(called)
      return called
    }
    expect(ids('toolu_1', 'call-2')).toEqual(['toolu_1', 'call-2'])
    expect(ids('functions.Read:0', 'chatcmpl-tool-1', 'a b')).toEqual(['functions_Read_0', 'chatcmpl-tool-1', 'a_b'])
    // an id that was sent does not change when messages are added
    expect(ids('a.b', 'a_b', 'a:b')).toEqual(['a_b', 'a_b_2', 'a_b_3'])
    expect(ids('a_b', 'a.b')).toEqual(['a_b', 'a_b_2'])
    expect(ids('日本', '东京')).toEqual(['__', '___2'])
  })

  it('W5 L8 toApiMessages: lone surrogates, which make a request invalid, are replaced everywhere', () => {
    const half = 'a\ud83d'
    const whole = 'a\ufffd'
    const sound = toolUse('b', 'Read', { path: '\u{1f600}' })
    const transcript: Message[] = [
      createUserMessage(half, idsAndTime),
      createAssistantMessage([{ type: 'text', text: half }, toolUse('a', half, { [half]: [half, 1] })], {}, idsAndTime),
      createAttachmentMessage({ type: 'hook_additional_context', content: half }, 'a', idsAndTime),
    ]
    expect(toApiMessages(transcript)).toEqual([
      { role: 'user', content: [{ type: 'text', text: whole }] },
      { role: 'assistant', content: [{ type: 'text', text: whole }, toolUse('a', 'a_', { [whole]: [whole, 1] })] },
      { role: 'user', content: [{ type: 'text', text: expect.stringContaining(whole) }] },
    ])
    expect(JSON.stringify(transcript)).toContain('\\ud83d')
    expect(toApiMessages([createAssistantMessage([sound], {}, idsAndTime)])[0]?.content[0]).toBe(sound)
  })

  it('W6 a stop_hook_summary counts its hooks', () => {
    const summary = createStopHookSummary(
      { hookInfos: [{ command: 'lint' }], hookErrors: [], preventedContinuation: true, stopReason: 'enough' },
      idsAndTime,
    )
    expect(summary).toEqual({
      type: 'system',
      subtype: 'stop_hook_summary',
      ...stamp,
      hookCount: 1,
      hookInfos: [{ command: 'lint' }],
      hookErrors: [],
      preventedContinuation: true,
      stopReason: 'enough',
    })
  })

  it('W7 the executor emits a message and the context after it', async () => {
    const read = heldTool('Read')
    const { add, executor } = testTurn([read.tool], { context: { mine: 1 } })
    add('a', 'Read')
    read.run('a').finish()
    const [update] = await drain(executor)
    expect(update?.newContext).toMatchObject({ mine: 1 })
    expect(Object.keys(update ?? {})).toEqual(['message', 'newContext'])
  })
})

describe('texts', () => {
  it('W8 every text of the executor is an error result, tagged for the model and plain for people', async () => {
    const read = heldTool('Read', { timeout: 10 })
    const { add, executor, clock } = testTurn([read.tool])
    add('unknown', 'Nope')
    add('invalid', 'Read', [])
    add('throws', 'Read')
    read.run('throws').fail(new RangeError('too far'))
    await flush()
    add('slow', 'Read')
    clock.increment(10)
    clock.increment(5_000)
    const updates = await drain(executor)
    for (const update of updates) {
      const { content, is_error } = resultOf(update)
      expect(is_error).toBe(true)
      const raw = update.message.type === 'user' && update.message.toolUseResult
      expect(content).toBe(`<tool_use_error>${raw}</tool_use_error>`)
    }
    expect(updates.map((update) => resultOf(update).content)).toEqual([
      '<tool_use_error>Error: No such tool available: Nope</tool_use_error>',
      expect.stringContaining('<tool_use_error>InputValidationError: the input: expected object'),
      '<tool_use_error>RangeError: too far</tool_use_error>',
      expect.stringContaining('<tool_use_error>Timeout: the call took longer than 10 ms'),
    ])
  })

  it('W8 the text of a streaming fallback is kept for recordings', () => {
    const cause = { kind: 'streaming_fallback', reason: 'streaming_fallback' } as const
    expect(abortText(cause, 'underWay')).toEqual({
      content: '<tool_use_error>Error: Streaming fallback - tool execution discarded</tool_use_error>',
      toolUseResult: 'Error: Streaming fallback - tool execution discarded',
    })
  })
})
