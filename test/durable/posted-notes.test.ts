import { AsyncLocalStorage } from 'node:async_hooks'
import type { SessionNote } from 'signalbox/durable'
import { describe, expect, it, vi } from 'vitest'
import { allowAllTools } from '../../src/index.ts'
import { askedSession } from '../support/asked-session.ts'
import { lives, replyWith, said, sayLast, settle, until } from '../support/durable-lives.ts'
import { heldTool } from '../support/held-tool.ts'

describe('messages, answers and aborts from another process', () => {
  it('D6a a message that was posted starts a run, once', async () => {
    const { begin, journals } = lives([], { canUseTool: allowAllTools })
    const first = await begin()
    const note: SessionNote = { type: 'message', uuid: 'm1', content: 'hello' }
    expect(await journals.post('s', note)).toBe('accepted')
    expect(await journals.post('s', note)).toBe('stale')
    await sayLast(first, 'hi')
    expect(said(first.session.transcript)).toEqual(['user: hello', 'assistant: hi'])
    const second = await begin()
    await settle()
    expect(second.session.status).toBe('idle')
  })

  it('S4 a message that somebody posts runs in the async context of whoever opened the session', async () => {
    const user = new AsyncLocalStorage<string>()
    const seen: (string | undefined)[] = []
    const pay = { ...heldTool('Pay').tool, call: async () => ({ data: seen.push(user.getStore()) }) }
    const world = lives([pay], { canUseTool: allowAllTools })
    const life = await user.run('opener', () => world.begin())
    await user.run('poster', () => world.journals.post('s', { type: 'message', uuid: 'm', content: 'pay' }))
    await replyWith(life, ['p', 'Pay'])
    await until(() => seen.length === 1)
    expect(seen).toEqual(['opener'])
  })

  it('D20 a run that a waiting message begins is reported to the listeners that the opener adds', async () => {
    const world = lives([], { canUseTool: allowAllTools })
    const first = await world.begin()
    await first.session.close()
    await world.journals.post('s', { type: 'message', uuid: 'm1', content: 'hello' })
    const { session, ...second } = await world.begin()
    const shown: string[] = []
    expect(session.status).toBe('suspended')
    session.on('run_started', ({ run }) => run.onMessage(({ type }) => shown.push(type)))
    await sayLast({ session, ...second }, 'hi')
    await session.whenIdle()
    expect(shown.filter((type) => type !== 'system')).toEqual(['user', 'assistant'])
  })

  it('D15 a session that was resumed as soon as it was opened, and waits again, begins no second run', async () => {
    const { first, seen, begin } = await askedSession()
    await seen
    await first.session.close()
    vi.useFakeTimers({ toFake: ['setTimeout'] })
    try {
      const { session } = await begin()
      let runs = 0
      session.on('run_started', () => void runs++)
      session.resume()
      await settle()
      expect([runs, session.status]).toEqual([1, 'suspended'])
      vi.runAllTimers()
      await settle()
      expect([runs, session.status]).toEqual([1, 'suspended'])
    } finally {
      vi.useRealTimers()
    }
  })

  it('D20 a message or an answer to a session that nobody has open waits in its inbox until somebody opens it', async () => {
    const { first, seen, begin, tools, journals, records } = await askedSession()
    await seen
    const [question] = first.session.questions()
    await first.session.close()
    const before = JSON.stringify(await records())
    const answer: SessionNote = { type: 'answer', question: question?.id as string, answer: { behavior: 'allow' } }
    expect(await journals.post('s', answer)).toBe('accepted')
    expect(await journals.post('s', { type: 'message', uuid: 'm1', content: 'and hurry' })).toBe('accepted')
    await settle()
    expect([JSON.stringify(await records()), tools[0]?.started]).toEqual([before, []])
    const second = await begin()
    second.session.resume()
    await until(() => tools[0]?.started.length === 1)
    tools[0]?.run('pay').finish()
    await sayLast(second)
    await second.session.whenIdle()
    expect(said(second.session.transcript).slice(-3)).toEqual([
      'user: result pay pay done',
      'user: and hurry',
      'assistant: Done.',
    ])
  })

  it('D6a an abort that was posted ends the run, and holds for a suspended one', async () => {
    const { first, seen, journals, records } = await askedSession()
    await seen
    await journals.post('s', { type: 'abort', uuid: 'a1', reason: 'changed my mind' })
    await until(() => first.session.status === 'idle')
    expect(first.session.result?.reason).toBe('aborted_tools')
    expect((await records()).at(-1)).toMatchObject({ t: 'run.ended', note: 'a1' })
    expect(first.session.questions()).toEqual([])
  })
})
