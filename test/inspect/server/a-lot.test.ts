import { createWriteStream, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { type Frame, frameLine, readFrames } from '../../../src/inspect/index.ts'
import { serveInspector } from '../../../src/inspect/server/index.ts'
import { heldTool } from '../../support/held-tool.ts'
import { takeAll, testTurn } from '../../support/turn.ts'
import { type Connection, connect, refusal, socketAt, tokenOf } from './support.ts'

const isFull = process.env.SIGNALBOX_FULL === '1'
const clients = isFull ? 1_000 : 60
const recordingBytes = isFull ? 1_000_000_000 : 20_000_000

const cleanUps: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp()
})

describe('load', () => {
  it(`of ${clients} clients at once, the allowed number is served and the others are rejected`, async () => {
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([read.tool])
    const server = await serveInspector(executor, { maxClients: 10 })
    cleanUps.push(() => server.close())
    const outcomes = await Promise.all(Array.from({ length: clients }, () => refusal(socketAt(server.url))))
    expect(outcomes.filter((outcome) => outcome === 'open')).toHaveLength(10)
    add('a', 'Read')
    expect(read.started).toEqual(['a'])
  })

  it(`${clients} allowed clients each get everything`, async () => {
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([read.tool])
    const server = await serveInspector(executor, { maxClients: clients })
    cleanUps.push(() => server.close())
    const connections: Connection[] = []
    for (let count = 0; count < clients; count += 50) {
      const some = Array.from({ length: Math.min(50, clients - count) }, () => connect(server.url))
      connections.push(...(await Promise.all(some)))
    }
    add('a', 'Read')
    const isThere = (frames: readonly Frame[]) => frames.some((frame) => frame.type === 'call' && frame.call === 'a')
    await Promise.all(connections.map(({ until }) => until(isThere)))
    expect(connections).toHaveLength(clients)
  })

  it('of a run that lets no timer fire stays within the history that is kept', async () => {
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([read.tool])
    const server = await serveInspector(executor, { record: 'always', maxHistoryBytes: 200_000 })
    cleanUps.push(() => server.close())
    let ticks = 0
    const timer = setInterval(() => ticks++, 1)
    cleanUps.push(() => clearInterval(timer))
    for (let count = 0; count < 400; count++) {
      add(`${count}`, 'Read')
      if (count > 0) read.run(`${count - 1}`).finish()
      for (let turn = 0; turn < 20; turn++) await Promise.resolve()
      takeAll(executor)
    }
    expect(ticks).toBe(0)
    const { until, frames } = await connect(server.url)
    await until((seen) => seen.some((frame) => frame.type === 'call' && frame.call === '399'))
    // a late reader gets what is kept, and is told what is not
    expect(frames.find(({ type }) => type === 'gap')).toMatchObject({ because: 'trimmed' })
  })

  it(`of a recording, ${recordingBytes / 1e6} MB, is streamed and never held in memory`, async () => {
    const folder = mkdtempSync(join(tmpdir(), 'signalbox-a-lot-'))
    cleanUps.push(() => rmSync(folder, { recursive: true }))
    const path = join(folder, 'long.jsonl')
    const data = 'x'.repeat(1_900)
    function* lines(): Generator<string> {
      yield frameLine({ seq: 0, at: 0, run: 0, type: 'head', version: 1, epoch: 0 })
      for (let seq = 1, bytes = 0; bytes < recordingBytes; seq++) {
        const line = frameLine({ seq, at: seq, run: 1, type: 'progress', call: 'a', count: seq, data })
        bytes += line.length
        yield line
      }
    }
    await pipeline(Readable.from(lines()), createWriteStream(path))
    const server = await serveInspector([], { recording: path })
    cleanUps.push(() => server.close())
    const headers = { authorization: `Bearer ${tokenOf(server.url)}` }
    const response = await fetch(new URL('/recording', server.url), { headers })
    let count = 0
    let most = 0
    const before = process.memoryUsage().heapUsed
    for await (const frame of readFrames(response.body as unknown as AsyncIterable<Uint8Array>)) {
      if (++count % 5_000 === 0) most = Math.max(most, process.memoryUsage().heapUsed - before)
      if (frame.seq !== count - 1) throw new Error(`frame ${count} is missing`)
    }
    expect(count).toBeGreaterThan((statSync(path).size / 2_100) * 0.9)
    // garbage between two collections, not the file
    expect(most).toBeLessThan(400_000_000)
  })
})
