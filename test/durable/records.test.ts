import { describe, expect, it } from 'vitest'
import { allowAllTools, type Model } from '../../src/index.ts'
import { lives, readAll, replyWith, said, sayLast, settle, until } from '../support/durable-lives.ts'
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

  it('D18 the fallback model stays in force after a crash', async () => {
    let asked = 0
    const overloaded: Model = () => {
      asked++
      throw Object.assign(new Error('Overloaded'), { status: 529 })
    }
    const fallback = heldModel()
    const { begin, written } = lives([], { canUseTool: allowAllTools, retry: { attempts: 0 } })
    const models = (held: typeof fallback) => ({ model: overloaded, fallbackModel: held.model })
    const first = await begin(models(fallback))
    first.session.send('hello')
    await until(() => fallback.requests.length === 1)
    await written('attempt.discarded')
    expect(asked).toBe(1)

    const other = heldModel()
    const second = await begin(models(other))
    const seen = readAll(second.session.resume())
    await until(() => other.requests.length === 1)
    await sayLast({ ...second, held: other }, 'hi')
    await seen
    expect(said(second.session.transcript)).toEqual(['user: hello', 'assistant: hi'])
    expect(asked).toBe(1)
  })
})
