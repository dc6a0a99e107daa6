import type { SessionNote } from 'signalbox/durable'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { AnyTool, CanUseTool, PermissionReply } from '../../src/index.ts'
import { askedSession, later } from '../support/asked-session.ts'
import { lives, readAll, replyWith, said, sayLast, settle, startReply, until } from '../support/durable-lives.ts'
import { heldTool } from '../support/held-tool.ts'

describe('answers to questions that outlive their process', () => {
  it('D6a D15 an answer in the same process lets the session go on by itself', async () => {
    const { first, tools, seen } = await askedSession()
    await seen
    const [question] = first.session.questions()
    expect(await first.session.answer(question?.id as string, { behavior: 'allow' }, { by: 'Ann' })).toBe('accepted')
    await until(() => tools[0]?.started.length === 1)
    expect(await first.session.answer(question?.id as string, { behavior: 'allow' })).toBe('stale')
    tools[0]?.run('pay').finish()
    await sayLast(first)
    expect(said(first.session.transcript)).toEqual([
      'user: pay',
      'assistant: call pay Pay {}',
      'user: result pay pay done',
      'assistant: Done.',
    ])
    // the run that went on shows its open turn again: whoever reads from the start sees it once
    const shown: string[] = []
    for await (const message of first.session.messages()) {
      if (message.type === 'assistant') shown.push(message.uuid)
      if (message.uuid === first.session.transcript.at(-1)?.uuid) break
    }
    expect(shown).toEqual([...new Set(shown)])
    expect(shown).toHaveLength(2)
  })

  it('D2 D16 a service that repeats the id of a discarded reply does not reuse the answer to it', async () => {
    const pay = heldTool('Pay')
    const world = lives([pay.tool], { canUseTool: later })
    const first = await world.begin()
    first.session.send('pay')
    await until(() => first.held.requests.length === 1)
    first.held.start('same')
    first.held.call('p', 'Pay')
    first.held.text('and then')
    await until(() => first.session.questions().length === 1)
    await first.session.suspend()
    // the reply was cut off: its question is answered, and then it is discarded
    const second = await world.begin()
    const [old] = second.session.questions()
    expect(await second.session.answer(old?.id as string, { behavior: 'allow' })).toBe('accepted')
    second.session.resume()
    await until(() => second.held.requests.length === 1)
    second.held.start('same')
    second.held.call('p', 'Pay')
    second.held.end('tool_use')
    await until(() => second.session.questions().length === 1)
    const [question] = second.session.questions()
    expect(question?.id).not.toBe(old?.id)
    expect(await second.session.answer(question?.id as string, { behavior: 'allow' })).toBe('accepted')
    await until(() => pay.started.length === 1)
  })

  it('D11 D16 a reply that was cut off before anything started is discarded: its question closes, and its answer is stale', async () => {
    const tool = heldTool('Pay')
    const world = lives([tool.tool], { canUseTool: () => ({ behavior: 'later' }) })
    const first = await world.begin()
    first.session.send('pay')
    await startReply(first)
    first.held.call('p', 'Pay')
    first.held.text('and then')
    await world.written('permission.asked')
    const second = await world.begin()
    const [question] = second.session.questions()
    second.session.resume()
    await world.written('attempt.discarded')
    expect(second.session.questions()).toEqual([])
    expect(await second.session.answer(question?.id as string, { behavior: 'allow' })).toBe('stale')
    await sayLast(second)
    await second.session.whenIdle()
    expect(tool.started).toEqual([])
  })

  it('D16 an answer to a question whose input has changed is stale, and nothing happens', async () => {
    const amountOf = (inputSchema: z.ZodType) => ({ ...pay.tool, inputSchema }) as unknown as AnyTool
    const pay = heldTool('Pay')
    const world = lives([amountOf(z.object({ amount: z.number().default(1) }))], { canUseTool: later })
    const first = await world.begin()
    const seen = readAll(first.session.send('pay'))
    await replyWith(first, ['p', 'Pay'])
    await seen
    const [old] = first.session.questions()
    // today's schema shows another input for the same call
    const second = await world.begin({ tools: [amountOf(z.object({ amount: z.number().default(1_000) }))] })
    await readAll(second.session.resume())
    const [question] = second.session.questions()
    expect([old?.input, question?.input]).toEqual([{ amount: 1 }, { amount: 1_000 }])
    const before = (await world.records()).length
    expect(await second.session.answer(old?.id as string, { behavior: 'allow' })).toBe('stale')
    await settle()
    expect([pay.started, second.session.status, (await world.records()).length]).toEqual([[], 'suspended', before])
    expect(second.session.questions()).toEqual([question])
  })

  it('D6a D16 another process answers while the run is down: the first answer counts', async () => {
    const { first, seen, begin, tools, journals } = await askedSession()
    await seen
    const [question] = first.session.questions()
    await first.session.close()
    const note = (answer: 'allow' | 'deny'): SessionNote => ({
      type: 'answer',
      question: question?.id as string,
      answer: answer === 'allow' ? { behavior: 'allow' } : { behavior: 'deny', message: 'no' },
    })
    expect(await Promise.all([journals.post('s', note('deny')), journals.post('s', note('allow'))])).toEqual([
      'accepted',
      'stale',
    ])
    const second = await begin()
    const again = readAll(second.session.resume())
    await sayLast(second)
    await again
    expect(tools[0]?.started).toEqual([])
    expect(JSON.stringify(second.session.transcript)).toContain('<tool_use_error>no</tool_use_error>')
  })

  it('D11 an answer holds after a crash, but a deny rule of today is stronger', async () => {
    const { first, seen, begin, tools } = await askedSession()
    await seen
    const [question] = first.session.questions()
    await first.session.suspend()
    await first.session.answer(question?.id as string, { behavior: 'allow' })
    await settle()
    const second = await begin({ context: { permissions: { deny: ['Pay'] } } })
    const again = readAll(second.session.resume())
    await sayLast(second)
    await again
    expect(tools[0]?.started).toEqual([])
    expect(JSON.stringify(second.session.transcript)).toContain('denied by the rule')
  })

  it('D11 D16 the tool is gone when its question is answered: the call does not run, and the run goes on', async () => {
    const { first, seen, begin, tools } = await askedSession()
    await seen
    const [question] = first.session.questions()
    const second = await begin({ tools: [] })
    expect(second.session.questions()).toEqual([question])
    expect(await second.session.answer(question?.id as string, { behavior: 'allow' })).toBe('accepted')
    second.session.resume()
    await sayLast(second)
    await second.session.whenIdle()
    expect([tools[0]?.started, second.session.result?.reason]).toEqual([[], 'completed'])
    expect(JSON.stringify(second.session.transcript)).toContain('No such tool available: Pay')
    expect(await second.session.answer(question?.id as string, { behavior: 'allow' })).toBe('stale')
  })

  it('D14 rules that came with an answer hold after a resume', async () => {
    const { first, seen, begin, tools } = await askedSession()
    await seen
    const [question] = first.session.questions()
    await first.session.suspend()
    await first.session.answer(question?.id as string, { behavior: 'allow', addRules: { allow: ['Pay'] } })
    await settle()
    const second = await begin()
    expect(second.session.context.permissions?.allow).toEqual(['Pay'])
    second.session.resume()
    await until(() => tools[0]?.started.length === 1)
    tools[0]?.run('pay').finish()
    await replyWith(second, ['again', 'Pay'])
    await until(() => tools[0]?.started.length === 2)
    expect(second.session.questions()).toEqual([])
  })

  it('D11 D14 rules that came with an answer hold although the reply that asked is discarded', async () => {
    const pay = heldTool('Pay', { safe: true, isReadOnly: () => true })
    const world = lives([pay.tool], { canUseTool: later })
    const first = await world.begin()
    first.session.send('pay')
    await startReply(first)
    first.held.call('p', 'Pay')
    first.held.text('and then')
    await until(() => first.session.questions().length === 1)
    const [question] = first.session.questions()
    await first.session.answer(question?.id as string, { behavior: 'allow', addRules: { allow: ['Pay'] } })
    await world.written('permission.answered')
    const second = await world.begin()
    second.session.resume()
    await world.written('attempt.discarded')
    for (const life of [second, await world.begin()]) expect(life.session.context.permissions?.allow).toEqual(['Pay'])
  })

  it('D11 a deny rule of today holds for a question that nobody has answered', async () => {
    const { seen, begin, tools } = await askedSession()
    await seen
    const second = await begin({ context: { permissions: { deny: ['Pay'] } } })
    const again = readAll(second.session.resume())
    await sayLast(second)
    await again
    expect([tools[0]?.started, second.session.questions()]).toEqual([[], []])
    expect(JSON.stringify(second.session.transcript)).toContain('denied by the rule')
  })

  it('D6a an answer of canUseTool that comes after a suspension counts at the next resume', async () => {
    let answer: (reply: PermissionReply) => void = () => undefined
    const canUseTool: CanUseTool = () => new Promise((resolve) => (answer = resolve))
    const { first, begin, tools } = await askedSession({ canUseTool })
    expect(first.session.status).toBe('running')
    expect(first.session.questions()).toHaveLength(1)
    await first.session.suspend()
    expect(first.session.result?.reason).toBe('suspended')
    answer({ behavior: 'allow' })
    await settle()
    expect(first.session.questions()).toEqual([])
    const second = await begin({ canUseTool: later })
    second.session.resume()
    await until(() => tools[0]?.started.length === 1)
  })
})
