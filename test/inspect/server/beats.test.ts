import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { FrameHistory } from '../../../src/inspect/server/frame-history.ts'
import { InspectorClient } from '../../../src/inspect/server/inspector-client.ts'
import type { WebSocket } from '../../../src/inspect/server/web-socket.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A client that acknowledges what it gets, until it is gone. */
function setUp() {
  const history = new FrameHistory(() => [])
  const sent: { batch: number; frames: { seq: number }[] }[] = []
  const browser = { isThere: true, isDropped: false }
  const socket = {
    bufferedAmount: 0,
    send(text: string) {
      const message = JSON.parse(text)
      sent.push(message)
      if (browser.isThere) queueMicrotask(() => client.acknowledge(message.batch))
    },
    drop: () => {
      browser.isDropped = true
      client.leave()
    },
  }
  const client = new InspectorClient(socket as unknown as WebSocket, history, 30_000)
  return { history, sent, browser, client }
}

it('a browser gets an empty batch every two seconds, and stays connected while it acknowledges', async () => {
  const { sent, browser, client } = setUp()
  await vi.advanceTimersByTimeAsync(120_000)
  expect(sent).toHaveLength(60)
  expect(sent.every(({ frames }) => frames.length === 0)).toBe(true)
  expect(sent.map(({ batch }) => batch)).toEqual(sent.map((_, at) => at + 1))
  expect(browser.isDropped).toBe(false)
  client.leave()
  expect(vi.getTimerCount()).toBe(0)
})

it('a browser that is gone without a word is disconnected, even if there is nothing to send', async () => {
  const { sent, browser } = setUp()
  browser.isThere = false
  await vi.advanceTimersByTimeAsync(31_900)
  expect([sent.length, browser.isDropped]).toEqual([1, false])
  await vi.advanceTimersByTimeAsync(100)
  expect(browser.isDropped).toBe(true)
  expect(vi.getTimerCount()).toBe(0)
})

it('a browser that still reads gets its frames after the empty batches, each once', async () => {
  const { history, sent, client } = setUp()
  for (let seq = 0; seq < 10; seq++) {
    history.push({ seq, at: seq, run: 0, type: 'head', version: 1, epoch: 0 })
    client.pump()
    await vi.advanceTimersByTimeAsync(1_000)
  }
  expect(sent.flatMap(({ frames }) => frames.map(({ seq }) => seq))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9])
})
