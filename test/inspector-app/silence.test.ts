import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openLiveFeed } from '../../inspector-app/src/feed/live-feed.ts'
import type { Frame } from '../../src/inspect/index.ts'
import { flush } from '../../src/testing/index.ts'

/** A connection whose other side is the test. */
class FakeSocket extends EventTarget {
  static readonly OPEN = 1
  static opened: FakeSocket[] = []
  readonly readyState = FakeSocket.OPEN
  readonly sent: string[] = []
  readonly url: URL
  isClosed = false

  constructor(url: URL) {
    super()
    this.url = url
    FakeSocket.opened.push(this)
  }

  send(text: string): void {
    this.sent.push(text)
  }

  /** No `close` event: a goodbye to somebody who is gone is never answered. */
  close(): void {
    this.isClosed = true
  }

  say(message: object): void {
    this.dispatchEvent(new MessageEvent('message', { data: JSON.stringify(message) }))
  }
}

const hello = { type: 'hello', source: 'live', commands: ['abort'], stream: 's', isResumed: false }
const beat = (batch: number) => ({ type: 'frames', batch, frames: [] })
const head = { seq: 0, at: 0, run: 0, type: 'head', version: 1, epoch: 0 }

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] })
  vi.stubGlobal('WebSocket', FakeSocket)
  vi.stubGlobal('fetch', async () => ({ status: 204 }))
})
afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  FakeSocket.opened = []
})

function setUp() {
  let shown = 'connecting'
  const frames: Frame[] = []
  const feed = openLiveFeed('http://127.0.0.1:1', 'token', {
    onFrames: (given) => void frames.push(...given),
    onHello: () => {
      shown = 'live'
    },
    onLost: () => {
      shown = 'lost'
    },
    onSilent: (seconds) => {
      shown = `silent for ${seconds} s`
    },
    onHeard: () => {
      shown = 'live again'
    },
  })
  const [socket] = FakeSocket.opened as [FakeSocket]
  const pass = (ms: number): string => {
    vi.advanceTimersByTime(ms)
    return shown
  }
  return { feed, frames, socket, shown: () => shown, pass }
}

describe('a server that sends nothing any more', () => {
  it('is said to be silent after five seconds, for how long, and to be live with the next sign', () => {
    const { socket, shown, pass } = setUp()
    socket.say(hello)
    expect(pass(4_900)).toBe('live')
    expect(pass(100)).toBe('silent for 5 s')
    expect(pass(1_000)).toBe('silent for 6 s')
    expect(pass(2_500)).toBe('silent for 8 s')
    socket.say(beat(1))
    expect(shown()).toBe('live again')
    expect(pass(4_900)).toBe('live again')
    expect(pass(100)).toBe('silent for 5 s')
  })

  it('is never said to be silent while it sends a sign every two seconds; each is acknowledged', () => {
    const { socket, pass } = setUp()
    socket.say(hello)
    for (let batch = 1; batch <= 30; batch++) {
      expect(pass(2_000)).toBe('live')
      socket.say(beat(batch))
    }
    expect(socket.sent.map((text) => JSON.parse(text))).toEqual(
      Array.from({ length: 30 }, (_, at) => ({ type: 'ack', batch: at + 1 })),
    )
  })

  it('is given up after half a minute: the page connects again, continues, and ignores what still arrives', async () => {
    const { socket, shown, pass, frames } = setUp()
    socket.say(hello)
    socket.say({ type: 'frames', batch: 1, frames: [head] })
    expect(pass(29_900)).toBe('silent for 29 s')
    expect(pass(100)).toBe('lost')
    expect(socket.isClosed).toBe(true)
    await flush()
    pass(250)
    const [, second] = FakeSocket.opened as [FakeSocket, FakeSocket]
    expect(second.url.search).toBe('?stream=s&after=0')
    socket.say(beat(2))
    expect(shown()).toBe('lost')
    second.say({ ...hello, isResumed: true })
    expect(shown()).toBe('live')
    socket.dispatchEvent(new Event('close'))
    expect(shown()).toBe('live')
    expect(frames).toEqual([head])
    expect(pass(5_000)).toBe('silent for 5 s')
  })

  it('is given up too if it accepts the connection and never answers', async () => {
    const { pass } = setUp()
    expect(pass(29_900)).toBe('silent for 29 s')
    expect(pass(100)).toBe('lost')
    await flush()
    pass(250)
    expect(FakeSocket.opened).toHaveLength(2)
  })

  it('is not blamed for a page that was asleep itself', () => {
    const { socket, pass, shown } = setUp()
    socket.say(hello)
    pass(3_000)
    // a laptop that was closed for an hour: timers run late, and before the messages
    const awake = vi.spyOn(performance, 'now')
    const before = performance.now()
    awake.mockImplementation(() => before + 3_600_000)
    vi.advanceTimersByTime(2_000)
    expect(shown()).toBe('live')
    awake.mockRestore()
    socket.say(beat(1))
    expect(shown()).toBe('live')
  })

  it('leaves no timer behind once the page is closed', () => {
    const { feed, socket } = setUp()
    socket.say(hello)
    feed.close()
    expect(vi.getTimerCount()).toBe(0)
  })
})
