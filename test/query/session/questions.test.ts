import { AsyncLocalStorage } from 'node:async_hooks'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  allowAllTools,
  createSession,
  defineTool,
  type SessionOptions,
  type SessionQuestion,
} from '../../../src/index.ts'
import { subAgent } from '../../../src/query/sub-agent/index.ts'
import { checkTranscript } from '../../../src/transcripts/index.ts'
import { heldModel } from '../../support/held-model.ts'
import { heldTool } from '../../support/held-tool.ts'
import { flush } from '../../support/turn.ts'

function setUp(options: Partial<SessionOptions> = {}) {
  const held = heldModel()
  const pay = heldTool('Pay')
  const session = createSession({ id: 's', tools: [pay.tool], model: held.model, ...options })
  const events: string[] = []
  session.on('question_opened', ({ toolUseID }) => events.push(`opened ${toolUseID}`))
  session.on('question_closed', () => events.push('closed'))
  const ask = async (...calls: [string, string, unknown?][]): Promise<void> => {
    session.send('go')
    await flush()
    held.start()
    for (const [id, name, input] of calls) held.call(id, name, input)
    held.end('tool_use')
    await flush()
  }
  return { held, pay, session, events, ask }
}

const first = ([question]: SessionQuestion[]): SessionQuestion => question as SessionQuestion

describe('questions of a session', () => {
  it('S3 without a host to ask, a call waits for an answer; the answer lets it run', async () => {
    const { pay, session, events, ask } = setUp()
    await ask(['a', 'Pay', { invoice: 7 }])
    expect(session.questions()).toMatchObject([
      { toolUseID: 'a', toolName: 'Pay', input: { invoice: 7 }, agents: [], because: { by: 'mode' }, rule: 'Pay' },
    ])
    expect(pay.started).toEqual([])
    const { id } = first(session.questions())
    expect(await session.answer(id, { behavior: 'allow' })).toBe('accepted')
    await flush()
    expect(pay.started).toEqual(['a'])
    expect(session.questions()).toEqual([])
    expect(events).toEqual(['opened a', 'closed'])
    expect(await session.answer(id, { behavior: 'deny', message: 'no' })).toBe('stale')
  })

  it('S3 the host and the session may both answer; the first answer counts', async () => {
    let say: (answer: { behavior: 'deny'; message: string }) => void = () => undefined
    const { held, pay, session, ask } = setUp({ canUseTool: () => new Promise((resolve) => (say = resolve)) })
    await ask(['a', 'Pay'])
    const { id } = first(session.questions())
    say({ behavior: 'deny', message: 'not today' })
    await flush()
    expect(await session.answer(id, { behavior: 'allow' })).toBe('stale')
    expect(pay.started).toEqual([])
    held.start()
    held.text('well')
    held.end()
    await flush()
    expect(JSON.stringify(session.transcript)).toContain('not today')
  })

  it('S3 a hook that defers opens a question too, also where everything is allowed', async () => {
    const hooks = {
      PreToolUse: [
        { hooks: [async () => ({ hookSpecificOutput: { hookEventName: 'PreToolUse', permissionDecision: 'defer' } })] },
      ],
    } as never
    const { pay, session, ask } = setUp({ canUseTool: allowAllTools, context: { hooks } })
    await ask(['a', 'Pay'])
    expect(session.questions()).toMatchObject([{ toolUseID: 'a', because: { by: 'hook' } }])
    await session.answer(first(session.questions()).id, { behavior: 'allow' })
    await flush()
    expect(pay.started).toEqual(['a'])
  })

  it('S3 lists the questions of agents inside agents, says which agent asks, and answers them by id alone', async () => {
    const inner = heldModel()
    const middle = heldModel()
    const pay = heldTool('Pay')
    const deep = subAgent({ name: 'Deep', tools: [pay.tool], model: inner.model })
    const agent = subAgent({ name: 'Agent', tools: [deep], model: middle.model })
    const { session, held } = setUp({ tools: [agent] })
    session.send('go')
    await flush()
    held.start()
    held.call('outer', 'Agent', { prompt: 'work' })
    held.end('tool_use')
    await flush()
    await session.answer(first(session.questions()).id, { behavior: 'allow' })
    await flush()
    middle.start()
    middle.call('mid', 'Deep', { prompt: 'dig' })
    middle.end('tool_use')
    await flush()
    expect(session.questions()).toMatchObject([
      { toolName: 'Deep', agents: [{ toolUseID: 'outer', toolName: 'Agent' }] },
    ])
    await session.answer(first(session.questions()).id, { behavior: 'allow' })
    await flush()
    inner.start()
    inner.call('in', 'Pay', { n: 1 })
    inner.end('tool_use')
    await flush()
    expect(session.questions()).toMatchObject([
      { toolUseID: 'in', toolName: 'Pay', agents: [{ toolUseID: 'outer' }, { toolUseID: 'mid', toolName: 'Deep' }] },
    ])
    await session.answer(first(session.questions()).id, { behavior: 'allow', addRules: { allow: ['Pay'] } })
    await flush()
    expect(pay.started).toEqual(['in'])
    expect(session.context.permissions?.allow).toContain('Pay')
  })

  it('S3 a question closes when its call is aborted, and its answer is stale', async () => {
    const { session, events, ask } = setUp()
    await ask(['a', 'Pay'])
    const { id } = first(session.questions())
    session.abort('stop')
    await session.whenIdle()
    expect(session.questions()).toEqual([])
    expect(events).toEqual(['opened a', 'closed'])
    expect(await session.answer(id, { behavior: 'allow' })).toBe('stale')
    expect(checkTranscript(session.transcript).ok).toBe(true)
  })

  it('S1 rules that came with an answer hold for the next prompt', async () => {
    const { held, pay, session, ask } = setUp()
    await ask(['a', 'Pay'])
    await session.answer(first(session.questions()).id, { behavior: 'allow', addRules: { allow: ['Pay'] } })
    await flush()
    pay.run('a').finish()
    await flush()
    held.start()
    held.text('done')
    held.end()
    await session.whenIdle()
    await ask(['b', 'Pay'])
    expect(session.questions()).toEqual([])
    expect(pay.started).toEqual(['a', 'b'])
  })

  it('S3 the id of a question follows from the session, the reply, the call and the input', async () => {
    const idOf = async (session: string, reply: string, call: string, input: unknown): Promise<string> => {
      const asking = setUp({ id: session })
      asking.session.send('go')
      await flush()
      asking.held.start(reply)
      asking.held.call(call, 'Pay', input)
      asking.held.end('tool_use')
      await flush()
      return first(asking.session.questions()).id
    }
    const id = await idOf('s', 'r', 'a', { n: 1 })
    expect(await idOf('s', 'r', 'a', { n: 1 })).toBe(id)
    const others = [
      await idOf('t', 'r', 'a', { n: 1 }),
      await idOf('s', 'q', 'a', { n: 1 }),
      await idOf('s', 'r', 'b', { n: 1 }),
      await idOf('s', 'r', 'a', { n: 2 }),
    ]
    expect(new Set([id, ...others]).size).toBe(5)
  })

  it.each([
    ['a rule', { context: { permissions: { ask: ['Pay'] } } }, { by: 'rule', rule: 'Pay' }],
    ['the tool', {}, { by: 'tool' }],
  ])('S3 says that %s is why it is asked, and names no rule where none would spare it', async (_, options, because) => {
    const pay = heldTool('Pay').tool
    const picky = { ...pay, checkPermissions: async () => ({ behavior: 'ask' as const, message: 'over the limit' }) }
    const { session, ask } = setUp({ ...options, tools: [because.by === 'tool' ? picky : pay] })
    await ask(['a', 'Pay'])
    const question = first(session.questions())
    expect(question.because).toEqual(because)
    expect(question).not.toHaveProperty('rule')
    expect(question.message).toBe(because.by === 'tool' ? 'over the limit' : undefined)
  })

  it('S4 a body runs in the async context of the sender, not of whoever answered', async () => {
    const user = new AsyncLocalStorage<string>()
    const seen: (string | undefined)[] = []
    const look = defineTool({
      name: 'Pay',
      inputSchema: z.looseObject({}),
      call: async () => {
        seen.push(user.getStore())
        return { data: '' }
      },
    })
    const { held, session } = setUp({ tools: [look] })
    user.run('asker', () => void session.send('go'))
    await flush()
    held.start()
    held.call('a', 'Pay')
    held.end('tool_use')
    await flush()
    await user.run('approver', () => session.answer(first(session.questions()).id, { behavior: 'allow' }))
    await flush()
    expect(seen).toEqual(['asker'])
  })
})
