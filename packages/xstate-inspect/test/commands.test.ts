import type { PermissionAnswer, StreamingToolExecutor } from 'signalbox'
import { flush } from 'signalbox/testing'
import { describe, expect, it } from 'vitest'
import { toSCXMLEvent } from 'xstate'
import { type Listening, useWebSocketReceivers } from './receiver.ts'
import { useStage } from './stage.ts'

const listen = useWebSocketReceivers()
const onStage = useStage()

/** An event as a visualiser sends it for a button. */
const send = (client: Listening, origin: string, event: { type: string; [key: string]: unknown }): void =>
  client.receiver.send({
    type: 'xstate.event',
    event: JSON.stringify({ ...toSCXMLEvent(event), origin }),
    service: origin,
  })

const refusals = (client: Listening): unknown[] =>
  client.of('service.event').flatMap(({ event }) => (event.name === 'signalbox.refused' ? [event.data.because] : []))

const stateOf = (executor: StreamingToolExecutor): unknown =>
  (executor.actor.getSnapshot().value as { run: string }).run

async function connected(...stage: Parameters<typeof onStage>) {
  const turn = await onStage(...stage)
  const client = listen(turn.server.server)
  await client.until(() => client.sessionOf('executor') !== '')
  return { ...turn, client, root: client.sessionOf('executor') }
}

describe('commands from the real receiver', () => {
  it('do nothing unless the host allowed them, and the refusal is among the events', async () => {
    const { client, root, executor } = await connected()
    send(client, root, { type: 'abort.userInterrupted', reason: 'interrupt' })
    await client.until(() => refusals(client).length === 1)
    expect(refusals(client)).toEqual(['The host does not allow this command.'])
    expect(stateOf(executor)).toBe('clear')
  })

  it.each([
    [{ type: 'abort.userInterrupted', reason: 'interrupt' }, 'interrupted'],
    [{ type: 'abort.userInterrupted' }, 'aborted'],
    [{ type: 'abort.streamingFallback' }, 'discarded'],
  ] as const)('%o leads to %s if it is allowed', async (event, expected) => {
    const { client, root, executor, add } = await connected({ allowCommands: true })
    add('a', 'Read')
    send(client, root, event)
    const runOf = (value: unknown): unknown => (value as { run?: string } | undefined)?.run
    await client.until(() => runOf(client.valueOf(root)) === expected)
    expect(stateOf(executor)).toBe(expected)
    // once: as the event that the chart handled
    expect(client.of('service.event').filter((each) => each.event.name === event.type)).toHaveLength(1)
  })

  it.each([
    ['call.completed', { call: 'x' }],
    ['call.add', {}],
    ['results.take', {}],
    ['abort.siblingError', {}],
    ['permission.allowed', {}],
    ['xstate.stop', {}],
  ])('%s cannot be sent by a person', async (type, rest) => {
    const { client, root, executor } = await connected({ allowCommands: true })
    const before = executor.actor.getSnapshot()
    send(client, root, { type, ...rest })
    await client.until(() => refusals(client).length === 1)
    expect(executor.actor.getSnapshot()).toBe(before)
  })

  it('accepts only listed commands, and only if the chart accepts them', async () => {
    const { client, root, executor } = await connected({ allowCommands: ['abort'] })
    send(client, root, { type: 'abort.streamingFallback' })
    await client.until(() => refusals(client).length === 1)
    executor.abort('host')
    send(client, root, { type: 'abort.userInterrupted' })
    await client.until(() => refusals(client).length === 2)
    expect(refusals(client)).toEqual([
      'The host does not allow this command.',
      'The chart does not accept this command now.',
    ])
    expect(stateOf(executor)).toBe('aborted')
  })

  it('answers an open question of a call, once', async () => {
    const asked: ((answer: PermissionAnswer) => void)[] = []
    const ask = () => new Promise<PermissionAnswer>((resolve) => asked.push(resolve))
    const { client, add, write } = await connected({ allowCommands: ['answer'] }, ask)
    add('a', 'Write')
    await flush()
    expect(asked).toHaveLength(1)
    await client.until(() => client.sessionOf('call') !== '')
    const call = client.sessionOf('call')
    send(client, call, { type: 'call.abort' })
    await client.until(() => refusals(client).length === 1)
    send(client, call, { type: 'permission.allowed' })
    await client.until(() => JSON.stringify(client.valueOf(call)) === '{"executing":{"calling":"here"}}')
    expect(write.started).toEqual(['a'])
    send(client, call, { type: 'permission.denied' })
    await client.until(() => refusals(client).length === 2)
    expect(refusals(client)[1]).toBe('The chart does not accept this command now.')
  })

  it('denies one', async () => {
    const never = () => new Promise<PermissionAnswer>(() => undefined)
    const { client, add, write, executor } = await connected({ allowCommands: true }, never)
    add('a', 'Write')
    await flush()
    await client.until(() => client.sessionOf('call') !== '')
    send(client, client.sessionOf('call'), { type: 'permission.denied' })
    await client.until(() => JSON.stringify(client.valueOf(client.sessionOf('call'))) === '{"completed":"durable"}')
    expect(write.started).toEqual([])
    expect(JSON.stringify([...executor.getCompletedResults()])).toContain('denied this call')
  })

  it('ignores unknown actors', async () => {
    const { client, root, executor } = await connected({ allowCommands: true })
    send(client, '1/x:99', { type: 'abort.userInterrupted' })
    send(client, '__proto__', { type: 'abort.userInterrupted' })
    send(client, root, { type: 'call.add' })
    await client.until(() => refusals(client).length === 1)
    expect(stateOf(executor)).toBe('clear')
  })
})
