import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineTool, query } from '../../src/index.ts'
import { checkFrame, createRecorder, type Frame, type RecorderOptions, ShownRuns } from '../../src/inspect/index.ts'
import { scriptedModel } from '../../src/query/scripted/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { drain, flush, takeAll, testTurn } from '../support/turn.ts'

type Of<Type extends Frame['type']> = Extract<Frame, { type: Type }>
const ofType = <Type extends Frame['type']>(frames: readonly Frame[], type: Type): Of<Type>[] =>
  frames.filter((frame): frame is Of<Type> => frame.type === type)

const recorded = (
  executor: Parameters<ReturnType<typeof createRecorder>['watch']>[0],
  options: RecorderOptions = {},
) => {
  const frames: Frame[] = []
  createRecorder({ onFrame: (frame) => frames.push(frame), ...options }).watch(executor)
  return frames
}

const login = (more: object = {}) =>
  defineTool({
    name: 'Login',
    inputSchema: z.object({ command: z.string() }),
    call: async () => ({ data: 'in' }),
    ...more,
  })

describe('the evidence of a call', () => {
  it('P5 names what allowed it: a rule, a mode, or the host after a rule asked', async () => {
    const read = heldTool('Read', { safe: true })
    const decided = async (permissions: object) => {
      const { executor, add } = testTurn([read.tool], {
        context: { permissions },
        canUseTool: async () => ({ behavior: 'allow' }),
      })
      const frames = recorded(executor)
      add('a', 'Read')
      await flush()
      expect(frames.every((frame) => typeof checkFrame(frame) === 'object')).toBe(true)
      return ofType(frames, 'decision').map(({ behavior, source }) => [behavior, source.by, source.name])
    }
    expect(await decided({ mode: 'default', allow: ['Read'] })).toEqual([['allow', 'rule', 'Read']])
    expect(await decided({ mode: 'bypassPermissions', deny: ['Write'] })).toEqual([
      ['allow', 'mode', 'bypassPermissions'],
    ])
    expect(await decided({ mode: 'default', ask: ['Read'] })).toEqual([
      ['ask', 'rule', 'Read'],
      ['allow', 'host', undefined],
    ])
  })

  it('P6 a question says why it asks', async () => {
    const { executor, add } = testTurn([heldTool('Read').tool], {
      context: { permissions: { mode: 'default', ask: ['Read'] } },
      canUseTool: () => new Promise(() => undefined),
    })
    const frames = recorded(executor)
    add('a', 'Read')
    await flush()
    expect(ofType(frames, 'questions').at(-1)?.open[0]).toMatchObject({
      call: 'a',
      because: { by: 'rule', name: 'Read' },
    })
  })

  it('P7 has the error of each attempt, also of those that were retried', async () => {
    let attempts = 0
    const flaky = defineTool({
      name: 'Flaky',
      inputSchema: z.object({}),
      retry: { attempts: 3 },
      call: async () => {
        if (++attempts < 3) throw new Error(`ECONNRESET ${attempts}`)
        return { data: 'ok' }
      },
    })
    const { executor, add, clock } = testTurn([flaky])
    const frames = recorded(executor)
    add('a', 'Flaky')
    for (let attempt = 0; attempt < 3; attempt++) {
      await flush()
      clock.increment(1)
    }
    const tried = ofType(frames, 'attempt').map(({ attempt, error, backoffMs }) => [attempt, error, backoffMs])
    expect(tried).toEqual([
      [1, expect.objectContaining({ $: 'error', message: 'ECONNRESET 1' }), 0],
      [2, expect.objectContaining({ $: 'error', message: 'ECONNRESET 2' }), 0],
    ])
  })

  it('has a long result whole, as the model got it, and truncates it where limits say so', async () => {
    const text = `${'x'.repeat(30_000)}end`
    const long = defineTool({ name: 'Long', inputSchema: z.object({}), call: async () => ({ data: text }) })
    const contents = async (options: RecorderOptions) => {
      const { executor, add } = testTurn([long])
      const frames = recorded(executor, options)
      add('a', 'Long')
      await drain(executor)
      return ofType(frames, 'result').map(({ content }) => content)
    }
    expect((await contents({}))[0] === text).toBe(true)
    expect(await contents({ limits: { text: 10 } })).toEqual([{ $: 'text', text: 'xxxxxxxxxx', length: 30_003 }])
    expect(await contents({ limits: { resultText: 20 } })).toEqual([expect.objectContaining({ length: 30_003 })])
  })
})

describe('redaction of an input', () => {
  const redact: RecorderOptions['redact'] = (value, { what, toolName }) =>
    what === 'input' && toolName === 'Login' ? '(hidden)' : value

  it('applies to everything derived from it: label, question, changed input, and the texts of other calls', async () => {
    const secret = 'hunter2'
    const bash = login({
      describe: ({ command }: { command: string }) => `as ${command}`,
      cancelsSiblingsOnError: true,
      isConcurrencySafe: () => true,
      call: async () => {
        throw new Error('refused')
      },
    })
    const read = heldTool('Read', { safe: true, obedient: true })
    const hook = async () => ({
      hookSpecificOutput: { hookEventName: 'PreToolUse' as const, updatedInput: { command: `${secret} again` } },
    })
    const { executor, add } = testTurn([bash, read.tool], {
      context: { hooks: { PreToolUse: [{ matcher: 'Login', hooks: [hook] }] } },
      canUseTool: (tool) => (tool.name === 'Login' ? new Promise(() => undefined) : { behavior: 'allow' }),
    })
    const frames = recorded(executor, { redact })
    add('a', 'Login', { command: secret })
    add('b', 'Read')
    await flush()
    expect(ofType(frames, 'questions').at(-1)?.open).toMatchObject([{ call: 'a', input: '(hidden)' }])
    executor.answer('a', { behavior: 'allow' })
    await flush()
    takeAll(executor)
    expect(ofType(frames, 'abort').length).toBeGreaterThan(0)
    expect(ofType(frames, 'result').some(({ content }) => JSON.stringify(content).includes('input_changed'))).toBe(true)
    expect(frames.filter((frame) => JSON.stringify(frame).includes(secret))).toEqual([])
    expect(ofType(frames, 'call').find(({ call }) => call === 'a')?.label).toBe('Login')
  })

  it('shows nothing derived from an input whose redaction throws', async () => {
    const { executor, add } = testTurn([login()])
    const frames = recorded(executor, {
      redact: (value, { what }) => {
        if (what === 'input') throw new Error('cannot tell')
        return value
      },
    })
    add('a', 'Login', { command: 'hunter2' })
    await drain(executor)
    expect(frames.filter((frame) => JSON.stringify(frame).includes('hunter2'))).toEqual([])
  })
})

describe('the conversation around the calls', () => {
  it('L4 is recorded with each turn of a query: prompt, text, tokens and cost', async () => {
    const read = defineTool({ name: 'Read', inputSchema: z.object({}), call: async () => ({ data: 'text' }) })
    const usage = { input_tokens: 1_000, output_tokens: 100, cache_read_input_tokens: 500 }
    const model = scriptedModel([
      [{ text: 'I look.' }, { call: 'Read', input: {} }, { stop: 'tool_use', usage }],
      'All done.',
    ])
    const run = query({ messages: 'Fix it.', tools: [read], model, canUseTool: async () => ({ behavior: 'allow' }) })
    const frames: Frame[] = []
    const shown = new ShownRuns()
    const prices = { scripted: { input: 10, output: 100, cacheRead: 1 } }
    shown.begin(createRecorder({ onFrame: (frame) => frames.push(frame), prices }))
    shown.add(run)
    for await (const _ of run);
    expect(ofType(frames, 'said').map(({ run: turn, by, text }) => [turn, by, text])).toEqual([
      [1, 'user', 'Fix it.'],
      [1, 'model', 'I look.'],
      [2, 'model', 'All done.'],
    ])
    const replies = ofType(frames, 'reply').map(({ run: turn, model: name, tokens, costUsd }) => [
      turn,
      name,
      tokens.input,
      tokens.output,
      tokens.cacheRead,
      costUsd,
    ])
    expect(replies[0]).toEqual([1, 'scripted', 1_000, 100, 500, 0.0205])
    expect(replies).toHaveLength(2)
  })
})
