import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createWindowReceiver } from '@xstate/inspect'
import { flush, heldTool, heldTurn } from 'signalbox/testing'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { toSCXMLEvent } from 'xstate'
import { showInWindow, type WindowOptions, type WindowShowing } from '../src/index.ts'
import { listening } from './receiver.ts'

/** A minimal window for messages: they are cloned, delivered asynchronously, and have an origin. */
class FakeWindow extends EventTarget {
  readonly origin: string
  readonly listeners = new Map<string, number>()

  constructor(origin: string) {
    super()
    this.origin = origin
  }

  /** Delivers a message from the other window. */
  arrives(data: unknown, origin: string): void {
    const copy = structuredClone(data)
    queueMicrotask(() => this.dispatchEvent(Object.assign(new Event('message'), { data: copy, origin })))
  }

  /** This window as seen from `other`: `postMessage` checks the target origin. */
  heldBy(other: FakeWindow): Window {
    const postMessage = (data: unknown, target: string): void => {
      if (target === '*' || target === this.origin) this.arrives(data, other.origin)
    }
    return { postMessage } as unknown as Window
  }

  override addEventListener(...args: Parameters<EventTarget['addEventListener']>): void {
    this.listeners.set(args[0], (this.listeners.get(args[0]) ?? 0) + 1)
    super.addEventListener(...args)
  }

  override removeEventListener(...args: Parameters<EventTarget['removeEventListener']>): void {
    this.listeners.set(args[0], (this.listeners.get(args[0]) ?? 0) - 1)
    super.removeEventListener(...args)
  }
}

const showings: WindowShowing[] = []
afterEach(() => {
  for (const each of showings.splice(0)) each.leave()
  vi.unstubAllGlobals()
})

function setUp(options: WindowOptions = {}) {
  const app = new FakeWindow('https://app.example')
  const inspector = new FakeWindow('https://inspector.example')
  vi.stubGlobal('window', app)
  const read = heldTool('Read', { safe: true, cancel: true })
  const turn = heldTurn([read.tool])
  const url = 'https://inspector.example/viz?inspect'
  const showing = showInWindow(turn.executor, { url, targetWindow: inspector.heldBy(app), iframe: false, ...options })
  showings.push(showing)
  const look = () => {
    const receiver = createWindowReceiver({
      window: inspector as unknown as Window,
      targetWindow: app.heldBy(inspector),
    })
    return listening(receiver, async () => receiver.stop?.())
  }
  return { app, inspector, read, showing, look, ...turn }
}

describe('the real window receiver of @xstate/inspect', () => {
  it('gets the current actors with their parents, and all later events', async () => {
    const { look, add, read, executor } = setUp()
    add('a', 'Read')
    await flush()
    const client = look()
    await client.until(() => client.of('service.register').length === 2)
    const [root, call] = [client.sessionOf('executor'), client.sessionOf('call')]
    expect(client.valueOf(call)).toEqual({ executing: { calling: 'here' } })
    add('b', 'Read')
    await client.until(() => client.of('service.register').length === 3)
    expect(client.of('service.register')[2]).toMatchObject({ id: 'call', parent: root })
    read.run('a').finish()
    await flush()
    expect([...executor.getCompletedResults()]).toHaveLength(1)
    await client.until(() => client.of('service.stop').length === 1)
    expect(client.valueOf(call)).toBe('yielded')
  })

  it('may send commands if allowed; a message from another page may not', async () => {
    const { look, app, executor } = setUp({ allowCommands: true })
    const client = look()
    await client.until(() => client.of('service.register').length === 1)
    const event = JSON.stringify({
      ...toSCXMLEvent({ type: 'abort.userInterrupted', reason: 'interrupt' }),
      origin: client.sessionOf('executor'),
    })
    const message = { type: 'xstate.event', event, service: '' } as const
    app.arrives(message, 'https://evil.example')
    await flush()
    expect(executor.actor.getSnapshot().value).toMatchObject({ run: 'clear' })
    client.receiver.send(message)
    await client.until(() => JSON.stringify(client.valueOf(client.sessionOf('executor'))).includes('interrupted'))
    expect(executor.actor.getSnapshot().value).toMatchObject({ run: 'interrupted' })
  })

  it('cannot send commands if none are allowed', async () => {
    const { look, executor } = setUp()
    const client = look()
    await client.until(() => client.of('service.register').length === 1)
    const origin = client.sessionOf('executor')
    const event = JSON.stringify({ ...toSCXMLEvent('abort.userInterrupted'), origin })
    client.receiver.send({ type: 'xstate.event', event, service: origin })
    await client.until(() => client.of('service.event').some((each) => each.event.name === 'signalbox.refused'))
    expect(executor.actor.getSnapshot().value).toMatchObject({ run: 'clear' })
  })

  it('gets the end when the host leaves, and nothing after it', async () => {
    const { look, showing, add, app } = setUp()
    const client = look()
    await client.until(() => client.of('service.register').length === 1)
    showing.leave()
    await client.until(() => client.of('service.stop').length === 1)
    const before = client.heard.length
    add('a', 'Read')
    await flush()
    expect(client.heard).toHaveLength(before)
    expect(app.listeners.get('message')).toBe(0)
  })

  it('keeps no reference to the executor, although the package keeps its data', async () => {
    setFlagsFromString('--expose-gc')
    const gc = runInNewContext('gc') as () => void
    const lookAndLeave = async () => {
      const { look, showing, add, executor } = setUp()
      const client = look()
      add('a', 'Read')
      await client.until(() => client.of('service.register').length >= 2)
      showing.leave()
      showings.length = 0
      await client.close()
      return new WeakRef(executor)
    }
    const gone = await lookAndLeave()
    const isGone = () => {
      gc()
      return gone.deref() === undefined
    }
    await expect.poll(isGone).toBe(true)
  })

  it('gets no data that redact removes', async () => {
    const { look, add, executor } = setUp({ redact: () => '(hidden)' })
    const client = look()
    await client.until(() => client.of('service.register').length === 1)
    add('a', 'Read', { password: 'hunter2' })
    executor.abort('hunter2')
    await client.until(() => client.of('service.event').some(({ event }) => event.name === 'abort.userInterrupted'))
    expect(JSON.stringify(client.heard)).not.toContain('hunter2')
  })
})
