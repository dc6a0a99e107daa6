import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { memoryJournals, openSession } from '../../src/durable/index.ts'
import { defineTool, type Query, query } from '../../src/index.ts'
import { ShownRuns } from '../../src/inspect/bridge/shown-runs.ts'
import { createRecorder, type Frame, type RecorderOptions, recordingOfSession } from '../../src/inspect/index.ts'
import { scriptedModel } from '../../src/query/scripted/index.ts'
import { subAgent } from '../../src/query/sub-agent/index.ts'

const secret = 'hunter2'

/** The example of the documentation. */
const redact: RecorderOptions['redact'] = (value, { what, toolName }) =>
  what === 'input' && toolName === 'Login' ? '(hidden)' : value

const leaks = (frames: readonly Frame[]) => frames.filter((frame) => JSON.stringify(frame).includes(secret))

/** Everything about a call says its input: label, resources, question, and what a hook makes of it. */
const loginTool = (call: () => Promise<{ data: string }> = async () => ({ data: 'logged in' }), hasKeys = true) =>
  defineTool({
    name: 'Login',
    inputSchema: z.object({ password: z.string() }),
    isConcurrencySafe: () => true,
    cancelsSiblingsOnError: true,
    describe: ({ password }) => `as ${password}`,
    ...(hasKeys && { resources: ({ password }) => ({ writes: [`login:${password}`] }) }),
    checkPermissions: async ({ password }) => ({ behavior: 'ask', message: `Log in with ${password}?` }),
    call,
  })

const other = defineTool({
  name: 'Wait',
  inputSchema: z.object({}),
  isConcurrencySafe: () => true,
  call: (_, { abortController: { signal } }) =>
    new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason))),
})

const login = { call: 'Login', input: { password: secret } }

function watched(run: Query, options: RecorderOptions = { redact }) {
  const frames: Frame[] = []
  const shown = new ShownRuns()
  shown.begin(createRecorder({ ...options, onFrame: (frame) => frames.push(frame) }))
  shown.add(run)
  return { frames, shown }
}

const ofType = <Type extends Frame['type']>(frames: readonly Frame[], type: Type) =>
  frames.filter((frame): frame is Extract<Frame, { type: Type }> => frame.type === type)

const hooks = {
  PreToolUse: [
    {
      matcher: 'Login',
      hooks: [
        async () => ({
          hookSpecificOutput: { hookEventName: 'PreToolUse' as const, updatedInput: { password: `${secret}!` } },
        }),
      ],
    },
  ],
}

describe('an input that redact hides', () => {
  it('P6 is not in the words of its question, in its resources, or in the state of the query', async () => {
    const run = query({
      messages: 'Go.',
      tools: [loginTool()],
      model: scriptedModel([[login], [login], 'Done.']),
      canUseTool: async () => ({ behavior: 'allow' }),
      context: { hooks },
    })
    const { frames } = watched(run)
    for await (const _ of run);
    const asked = ofType(frames, 'questions').flatMap(({ open }) => open)
    expect(asked.length).toBeGreaterThan(1)
    for (const question of asked) {
      expect(question).toMatchObject({ name: 'Login', input: '(hidden)', because: { by: 'tool' } })
      expect(question.message).toBeUndefined()
    }
    const rekeyed = ofType(frames, 'event').filter(({ event }) => event === 'preHooks.finished')
    expect(rekeyed[0]?.data).toMatchObject({ change: { keys: { writes: ['(withheld)'] } } })
    expect(leaks(frames)).toEqual([])
  })

  it('P6 is not in the rule that its question offers', async () => {
    const { checkPermissions: _, ...tool } = loginTool()
    const exact = { ...tool, exactRule: () => secret, matchesRule: () => true }
    for (const [shownBy, rule] of [
      [{ redact }, undefined],
      [{}, `Login(${secret})`],
    ] as const) {
      const model = scriptedModel([[login], 'Done.'])
      const run = query({ messages: 'Go.', tools: [exact], model, canUseTool: async () => ({ behavior: 'allow' }) })
      const { frames } = watched(run, shownBy)
      for await (const _ of run);
      const [asked] = ofType(frames, 'questions').flatMap(({ open }) => open)
      expect(asked).toMatchObject({ name: 'Login', because: { by: 'mode' } })
      expect(asked?.rule).toBe(rule)
      if (rule === undefined) expect(leaks(frames)).toEqual([])
    }
  })

  it('U1 is not in the outcome of a background call, in the turn that gets it', async () => {
    let finish = (): void => undefined
    const held = loginTool(
      () =>
        new Promise((resolve) => {
          finish = () => resolve({ data: 'logged in' })
        }),
    )
    const run = query({
      messages: 'Go.',
      tools: [held],
      model: scriptedModel([[login], 'It runs.', 'Done.']),
      canUseTool: async () => ({ behavior: 'allow' }),
    })
    const { frames } = watched(run)
    for await (const message of run) {
      if (message.type === 'assistant' && JSON.stringify(message).includes('It runs.')) finish()
      // its body has begun
      if (message.type === 'assistant' && JSON.stringify(message).includes('tool_use'))
        await expect.poll(() => run.detach('toolu_1')).toBe(true)
    }
    const said = ofType(frames, 'said').map(({ text }) => text)
    expect(said).toContainEqual(expect.stringContaining('[Background call bg_1, Login, has finished.'))
    expect(ofType(frames, 'background').map(({ label }) => label)).toContain('Login')
    expect(leaks(frames)).toEqual([])
  })

  it('is not in the progress of an agent that makes the call, and the agent hides its task with its own input', async () => {
    const playAgent = async (hide: RecorderOptions['redact']) => {
      let add: (inner: Query, id: string, title: string) => () => void = () => () => undefined
      const agent = subAgent({
        tools: [loginTool()],
        model: scriptedModel([[login], 'Logged in.']),
        onQuery: (inner, { toolUseID, description }) => add(inner, toolUseID, description),
      })
      const input = { description: `for ${secret}`, prompt: `Log in as ${secret}.` }
      const run = query({
        messages: 'Go.',
        tools: [agent],
        model: scriptedModel([[{ call: 'Agent', input }], 'Done.']),
        canUseTool: async () => ({ behavior: 'allow' }),
        context: { hooks },
      })
      const { frames, shown } = watched(run, { redact: hide, progressGapMs: 0 })
      add = (inner, parentToolUseID, title) => shown.add(inner, { title, parentToolUseID })
      for await (const _ of run);
      return frames
    }
    const inner = await playAgent(redact)
    const reports = ofType(inner, 'progress').map(({ data }) => JSON.stringify(data))
    expect(reports).toContainEqual(expect.stringContaining('"name":"Login","input":"(hidden)"'))
    expect(reports).toContainEqual(expect.stringContaining('"before":"(hidden)","after":"(hidden)"'))
    expect(reports.filter((report) => report.includes(secret))).toEqual([])

    const outer = await playAgent((value, { what }) => (what === 'input' ? '(hidden)' : value))
    const titles = ofType(outer, 'run').filter(({ parentToolUseID }) => parentToolUseID !== undefined)
    expect(titles[0]?.title).toBe('Agent, run 2')
    expect(ofType(outer, 'said').filter(({ by, run }) => by === 'user' && run === 2)).toMatchObject([
      { text: '(withheld)' },
    ])
    expect(leaks(outer)).toEqual([])
  })

  it('D24 is not in the texts of a log that describe its call', async () => {
    const journals = memoryJournals()
    const failing = loginTool(async () => {
      throw new Error('refused')
    }, false)
    const calls = [{ call: 'Wait', input: {} }, login]
    const session = await openSession({
      ...{ id: 'a', journals, tools: [failing, other], model: scriptedModel([calls, 'Done.']) },
      canUseTool: async () => ({ behavior: 'allow' }),
    })
    for await (const _ of session.send('Go.'));
    await session.close()
    const frames: Frame[] = []
    for await (const frame of recordingOfSession(journals, 'a', { redact })) frames.push(frame)
    const results = ofType(frames, 'result').map(({ content }) => content)
    expect(results).toContainEqual(expect.stringContaining('parallel tool call Login errored'))
    expect(leaks(frames)).toEqual([])
  })

  it('is not cut in half at the limit of a text', async () => {
    const failing = loginTool(async () => {
      throw new Error('refused')
    }, false)
    for (let text = 30; text < 70; text++) {
      const run = query({
        messages: 'Go.',
        tools: [failing, other],
        model: scriptedModel([[{ call: 'Wait', input: {} }, login], 'Done.']),
        canUseTool: async () => ({ behavior: 'allow' }),
      })
      const { frames } = watched(run, { redact, limits: { text } })
      for await (const _ of run);
      expect(frames.filter((frame) => JSON.stringify(frame).includes(secret.slice(0, 3)))).toEqual([])
    }
  })
})

describe('the state of a query', () => {
  it('does not show what the host passed to it', async () => {
    const run = query({
      messages: 'Go.',
      tools: [],
      model: scriptedModel(['Done.']),
      context: { apiKey: secret },
    })
    const { frames } = watched(run, {})
    for await (const _ of run);
    expect(ofType(frames, 'actor').map(({ chart }) => chart)).toContain('query')
    expect(leaks(frames)).toEqual([])
  })
})
