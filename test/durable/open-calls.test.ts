import { foldJournal, memoryJournals, openSession } from 'signalbox/durable'
import { describe, expect, it } from 'vitest'
import { checkTranscript } from '../../src/transcripts/index.ts'
import { type Life, lives, readAll, said, sayLast, settle, until } from '../support/durable-lives.ts'
import { heldTool } from '../support/held-tool.ts'

/** Two calls in one message of the API, the first of which has its result. */
const messages = [
  { role: 'user' as const, content: 'pay' },
  {
    role: 'assistant' as const,
    content: [
      { type: 'text', text: 'I will.' },
      { type: 'tool_use', id: 'p1', name: 'Pay', input: {} },
      { type: 'tool_use', id: 'p2', name: 'Pay', input: {} },
    ],
  },
  { role: 'user' as const, content: [{ type: 'tool_result', tool_use_id: 'p1', content: 'paid before' }] },
]

describe('S5 a conversation with unanswered calls in a session with a log', () => {
  it('S5 run: the calls go through the executor, questions included, and survive a crash', async () => {
    const pay = heldTool('Pay')
    const world = lives([pay.tool], { messages, openCalls: 'run', canUseTool: () => ({ behavior: 'later' }) })
    const first = await world.begin()
    expect(first.session.status).toBe('suspended')
    expect(first.held.requests).toEqual([])
    await readAll(first.session.resume())
    expect(first.session.questions()).toMatchObject([{ toolUseID: 'p2' }])
    const second = await world.begin()
    const [question] = second.session.questions()
    await second.session.answer(question?.id as string, { behavior: 'allow' })
    const again = readAll(second.session.resume())
    await until(() => pay.started.length === 1)
    expect(pay.started).toEqual(['p2'])
    pay.run('p2').finish()
    await sayLast(second)
    await again
    expect(said(second.session.transcript)).toEqual([
      'user: pay',
      'assistant: I will.',
      'assistant: call p1 Pay {}',
      'assistant: call p2 Pay {}',
      'user: result p1 paid before',
      'user: result p2 p2 done',
      'assistant: Done.',
    ])
    expect(checkTranscript(second.session.transcript)).toEqual({ ok: true })
    const folded = foldJournal((await world.records()) as never)
    expect(said(folded.transcript as never)).toEqual(said(second.session.transcript))
    // each request was one that a service accepts
    expect(JSON.stringify(second.held.requests[0]?.messages)).toContain('paid before')
  })

  it('S5 run: a crash before anything ran loses nothing, and the store does not call the session idle', async () => {
    const pay = heldTool('Pay')
    const world = lives([pay.tool], { messages, openCalls: 'run' })
    await world.begin()
    const summaries = []
    for await (const summary of world.journals.list()) summaries.push(summary.status)
    expect(summaries).toEqual(['suspended'])
    const second = await world.begin({ messages: [] })
    second.session.resume()
    await settle()
    await until(() => second.session.questions().length === 1)
    expect(second.session.questions()).toMatchObject([{ toolUseID: 'p2' }])
  })

  it('S5 answer is the default: each call gets an error result, and nothing runs', async () => {
    const pay = heldTool('Pay')
    const model = () => {
      throw new Error('not asked')
    }
    const session = await openSession({ id: 's', journals: memoryJournals(), tools: [pay.tool], model, messages })
    expect(session.status).toBe('idle')
    expect(JSON.stringify(session.transcript)).toContain('"tool_use_id":"p2","content"')
    expect(checkTranscript(session.transcript)).toEqual({ ok: true })
  })

  it('S5 answer: the first run warns, once, and no later process does', async () => {
    const pay = heldTool('Pay')
    const world = lives([pay.tool], { messages })
    const warnings = async (life: Life, text: string) => {
      const seen = readAll(life.session.send(text))
      await sayLast(life)
      return (await seen).filter((message) => message.type === 'system' && message.subtype === 'unanswered_calls')
    }
    const first = await world.begin()
    expect(await warnings(first, 'one')).toMatchObject([{ toolUseIDs: ['p2'] }])
    expect(await warnings(first, 'two')).toEqual([])
    expect(await warnings(await world.begin(), 'three')).toEqual([])
    expect(pay.started).toEqual([])
  })
})
