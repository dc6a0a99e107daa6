import { subAgent } from 'signalbox/sub-agent'
import { simulatedClock } from 'signalbox/testing'
import { describe, expect, it } from 'vitest'
import { type AnyTool, allowAllTools, type Session } from '../../src/index.ts'
import { callIn } from '../support/agent-lives.ts'
import { type Life, lives, replyWith, said, sayLast, settle, until } from '../support/durable-lives.ts'
import { heldModel } from '../support/held-model.ts'
import { heldTool } from '../support/held-tool.ts'

/** An agent that calls Slow, which runs alone, and then Pay, which asks. */
function withSlowCall({ executor }: Pick<Parameters<typeof subAgent>[0], 'executor'> = {}) {
  const [slow, pay] = [heldTool('Slow'), heldTool('Pay')]
  const held = heldModel()
  const agent = subAgent({ tools: [slow.tool, pay.tool], model: held.model, executor })
  const world = lives([agent as AnyTool], { context: { permissions: { allow: ['Agent', 'Slow'] } }, executor })
  let life: Life | undefined
  const agentLife = (session: Session): Life => {
    life ??= { session, held }
    return life
  }
  return { ...world, slow, pay, agentLife }
}

describe('agents that are interrupted', () => {
  it.each([
    'interrupt',
    'interrupt with a message',
  ])('A3 D17 after an %s, an agent whose calls only wait for a person has stopped', async (how) => {
    const { begin, slow, pay, agentLife } = withSlowCall()
    const life = await begin()
    life.session.send('go')
    await callIn(life, 'a', 'Agent', { prompt: 'pay it' })
    await replyWith(agentLife(life.session), ['s', 'Slow'], ['p', 'Pay'])
    life.session.interrupt(how === 'interrupt' ? undefined : 'stop')
    slow.run('s').finish()
    if (how !== 'interrupt') await sayLast(life)
    await life.session.whenIdle()
    expect([life.session.status, life.session.questions(), pay.started]).toEqual(['idle', [], []])
    expect(said(life.session.transcript)[2]).toMatch(/^user: result a error/)
    expect(JSON.stringify(life.session.transcript)).not.toContain('did not stop when told')
  })

  it.each([
    1, 2, 3,
  ])('D15a D17 suspended %i times while a body of the agent does not stop: one session at a time is on its log', async (times) => {
    const clock = simulatedClock()
    const [look, held] = [heldTool('Look', { safe: true, isReadOnly: () => true }), heldModel()]
    const tools = [{ ...look.tool, recover: () => 'again' as const }]
    const agent = subAgent({ tools, model: held.model, executor: { clock, abortGraceMs: 60_000 } })
    const executor = { clock, abortGraceMs: 100 }
    const world = lives([agent as AnyTool], { canUseTool: allowAllTools, executor })
    const life = await world.begin()
    const inner = { session: life.session, held }
    life.session.send('go')
    await callIn(life, 'a', 'Agent', { prompt: 'look' })
    await replyWith(inner, ['l', 'Look'])
    for (let time = 0; time < times; time++) {
      const suspended = life.session.suspend()
      await settle()
      clock.increment(100)
      await suspended
      life.session.resume()
      await settle()
    }
    look.run('l').finish()
    await until(() => look.started.length > 1)
    await settle()
    // the body of the last resume alone
    expect(look.started).toEqual(['l', 'l'])
    look.run('l').finish()
    await sayLast(inner, 'Looked.')
    await sayLast(life)
    await life.session.whenIdle()
    expect(said(life.session.transcript)).toContain('user: result a Looked.')
    const types: unknown[] = []
    for await (const { t } of world.journals.read('s/msg_1/a')) types.push(t)
    expect(types.filter((t) => t === 'call.completed' || t === 'turn.committed')).toHaveLength(3)
    await life.session.close()
    expect(clock.pending).toBe(0)
  })

  it('D15a D17 an agent that did not stop in time goes on once: no call of it begins twice', async () => {
    const { begin, slow, pay, agentLife } = withSlowCall({ executor: { abortGraceMs: 30 } })
    const life = await begin()
    life.session.send('go')
    await callIn(life, 'a', 'Agent', { prompt: 'pay it' })
    await replyWith(agentLife(life.session), ['s', 'Slow'], ['p', 'Pay'])
    life.session.interrupt('and hurry')
    await life.session.suspend()
    expect(life.session.status).toBe('suspended')
    life.session.resume()
    slow.run('s').finish()
    await until(() => life.session.questions().length > 0)
    await life.session.answer(life.session.questions()[0]?.id as string, { behavior: 'allow' })
    await until(() => pay.started.length > 0)
    pay.run('p').finish()
    await sayLast(agentLife(life.session), 'Agent done.')
    await sayLast(life)
    await life.session.whenIdle()
    expect([slow.started, pay.started, agentLife(life.session).held.requests.length]).toEqual([['s'], ['p'], 2])
    expect(life.session.result?.reason).toBe('completed')
  })
})
