import { describe, expect, it } from 'vitest'
import { allowAllTools, type Model } from '../../src/index.ts'
import {
  type Life,
  lives,
  readAll,
  replyWith,
  said,
  sayLast,
  settle,
  startReply,
  until,
} from '../support/durable-lives.ts'
import { heldModel } from '../support/held-model.ts'
import { heldTool } from '../support/held-tool.ts'

describe('the records of a session', () => {
  it('D2 D3 a call is recorded under its final id before it starts, and later records name it by that id', async () => {
    const write = heldTool('Write')
    const { begin, records, written } = lives([write.tool], { canUseTool: allowAllTools })
    const first = await begin()
    first.session.send('go')
    await settle()
    // two calls without an id
    await replyWith(first, ['', 'Write'], ['', 'Write'])
    await written('call.started')
    await written('reply.block', 2)
    await until(() => write.started.length === 1)
    const log = await records()
    const blocks = log.filter(({ t }) => t === 'reply.block')
    const ids = blocks.map((record) => JSON.stringify(record).match(/"type":"tool_use","id":"([^"]+)"/)?.[1])
    expect(new Set(ids).size).toBe(2)
    const started = log.find(({ t }) => t === 'call.started')
    expect(started).toMatchObject({ call: ids[0] })
    expect(log.indexOf(blocks[0] as (typeof log)[number])).toBeLessThan(log.indexOf(started as (typeof log)[number]))
    expect(write.started).toEqual([ids[0]])
  })

  const overloaded = () => Object.assign(new Error('Overloaded'), { status: 529 })

  it.each([
    ['the first run', false],
    ['a later run', true],
  ])('D18 the fallback model stays in force after a crash in %s', async (_, isLater) => {
    let asked = 0
    const primary = heldModel()
    const model: Model = (request) => {
      if (isLater && asked++ === 0) return primary.model(request)
      throw overloaded()
    }
    const { begin, written } = lives([], { canUseTool: allowAllTools, retry: { attempts: 0 } })
    const life = async () => {
      const fallback = heldModel()
      return { ...(await begin({ model, fallbackModel: fallback.model })), held: fallback }
    }
    const first = await life()
    if (isLater) {
      const seen = readAll(first.session.send('before'))
      await sayLast({ ...first, held: primary })
      await seen
    }
    first.session.send('hello')
    await until(() => first.held.requests.length === 1)
    await written('attempt.discarded')

    const failing: Model = () => {
      throw new Error('the first model is asked again')
    }
    const second = { ...(await begin({ model: failing, fallbackModel: first.held.model })), held: first.held }
    const seen = readAll(second.session.resume())
    await until(() => second.held.requests.length === 2)
    await sayLast(second, 'hi')
    await seen
    expect(said(second.session.transcript).slice(-2)).toEqual(['user: hello', 'assistant: hi'])
  })

  it('D18 L5 the fallback stays in force after a crash, also if the reply before it counts', async () => {
    const write = heldTool('Write', { startWhen: 'closed' })
    const { begin, written } = lives([write.tool], { canUseTool: allowAllTools, retry: { attempts: 0 } })
    const [primary, fallback] = [heldModel(), heldModel()]
    const first = await begin({ model: primary.model, fallbackModel: fallback.model })
    first.session.send('go')
    await startReply({ ...first, held: primary })
    primary.call('w', 'Write')
    await until(() => write.started.length === 1)
    primary.fail(overloaded())
    write.run('w').finish()
    await until(() => fallback.requests.length === 1)
    await written('turn.committed')
    const second = await begin({ model: primary.model, fallbackModel: fallback.model })
    second.session.resume()
    await until(() => fallback.requests.length === 2)
    expect(primary.requests).toHaveLength(1)
  })

  it('D18 a discarded attempt says what had run', async () => {
    const tools = ['Read', 'Look'].map((name) => heldTool(name, { isReadOnly: () => true, safe: true }))
    const [read, look] = tools as [(typeof tools)[0], (typeof tools)[0]]
    const { begin, records, written } = lives([read.tool, look.tool], {
      canUseTool: allowAllTools,
      context: { permissions: { deny: ['Denied'] } },
      retry: { attempts: 1, backoffMs: 0 },
    })
    const reply = async (life: Life, times: number) => {
      await startReply(life)
      life.held.call('done', 'Read')
      life.held.call('denied', 'Denied')
      life.held.call('begun', 'Look')
      life.held.text('and')
      await until(() => look.started.length === times)
      read.run('done').finish()
    }
    const first = await begin()
    first.session.send('go')
    await reply(first, 1)
    await written('call.completed', 2)
    first.held.fail(overloaded())
    await written('attempt.discarded')
    const ran = { id: 'done', name: 'Read', started: true, completed: true }
    const denied = { id: 'denied', name: 'Denied', started: false, completed: true }
    const discards = async () =>
      (await records()).filter(({ t }) => t === 'attempt.discarded').map(({ calls }) => calls)
    expect(await discards()).toEqual([[ran, denied, { id: 'begun', name: 'Look', started: true, completed: false }]])
    look.run('begun').finish()
    // the same reply is cut off by a crash; a call that only reads has no record of its start
    await until(() => first.held.requests.length === 2)
    await reply(first, 2)
    await written('call.completed', 4)
    const second = await begin()
    second.session.resume()
    await written('attempt.discarded', 2)
    expect((await discards())[1]).toMatchObject([
      { id: 'done', started: true, completed: true },
      { id: 'denied', started: false, completed: true },
      { id: 'begun', started: false, completed: false },
    ])
  })
})
