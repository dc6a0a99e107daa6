import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { writePage } from '../../../packages/cli/src/replay/write-page.ts'
import { runCli } from '../../../packages/cli/src/run-cli.ts'
import { fakeIo } from '../../../packages/cli/test/fake-io.ts'
import { type Frame, frameLine } from '../../../src/inspect/index.ts'
import { replayPageOf, writeReplayPage } from '../../../src/inspect/replay-page/index.ts'

const head: Frame = { seq: 0, at: 0, run: 0, type: 'head', version: 1, epoch: 0 }
const progress = (seq: number, data: string): Frame => ({
  seq,
  at: seq,
  run: 1,
  type: 'progress',
  call: 'a',
  count: seq,
  data,
})

const hostile = [
  '</script><script>alert(1)</script>',
  '<!-- <script>',
  '-->',
  ']]>',
  '\u2028\u2029\u0000\uFEFF',
  '\uD800 alone \uDC00',
  '<!-- recording -->',
  'x'.repeat(90_000),
]

describe('a replay page', () => {
  let folder: string
  let appFolder: string
  const path = (name: string): string => join(folder, name)
  const given = (name: string, text: string): string => {
    writeFileSync(path(name), text)
    return path(name)
  }

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'signalbox-replay-'))
    appFolder = path('app')
    mkdirSync(join(appFolder, 'replay'), { recursive: true })
    mkdirSync(join(appFolder, 'elk'))
    writeFileSync(join(appFolder, 'replay/replay.html'), '<p>before</p>\n<!-- recording -->\n<p>after</p>\n')
    writeFileSync(join(appFolder, 'elk/elk-worker.min.js'), 'the worker')
  })
  afterAll(() => rmSync(folder, { recursive: true }))

  /** The unpacked content of the blocks of this kind. */
  const blocksOf = (page: string, kind: string): string[] =>
    Array.from(
      page.matchAll(new RegExp(`<script type="application/x-signalbox-${kind}">([A-Za-z0-9+/=]*)</script>`, 'g')),
      ([, packed]) => packed as string,
    )
  const unpacked = (blocks: string[]): Buffer =>
    gunzipSync(Buffer.concat(blocks.map((block) => Buffer.from(block, 'base64'))))
  const written = async (source: Parameters<typeof replayPageOf>[0]): Promise<string> => {
    let page = ''
    for await (const piece of replayPageOf(source, { appFolder })) page += piece
    return page
  }

  it('contains the recording byte for byte, and none of it as text', async () => {
    const frames = [head, ...hostile.map((text, index) => progress(index + 1, text))]
    const lines = frames.map(frameLine).join('')
    const page = await written(frames)
    expect(unpacked(blocksOf(page, 'recording')).toString()).toBe(lines)
    expect(unpacked(blocksOf(page, 'worker')).toString()).toBe('the worker')
    expect(page.startsWith('<p>before</p>\n')).toBe(true)
    expect(page.endsWith('<p>after</p>\n')).toBe(true)
    // without the blocks, only the page's own text is left
    const rest = page.replace(/<script type="application[^>]*>[^<]*<\/script>/g, '').replace(/<!--.*?-->/s, '')
    expect(rest.trim().replace(/\s+/g, ' ')).toBe('<p>before</p> <p>after</p>')
  })

  it('keeps bytes that are not text, and a truncated last line', async () => {
    const bytes = Buffer.concat([
      Buffer.from(frameLine(head)),
      Buffer.from('{"seq":1,"at":1,"run":1,"type":"new-kind","x":"'),
      Buffer.from([0xff, 0xfe, 0xc0]),
      Buffer.from('"}\n{"seq":2,"at'),
    ])
    const page = await written(
      (async function* () {
        for (const byte of bytes) yield Uint8Array.of(byte)
      })(),
    )
    expect(unpacked(blocksOf(page, 'recording')).equals(bytes)).toBe(true)
  })

  it('is streamed, in blocks that can each be decoded alone', async () => {
    let pulled = 0
    const total = 3_000
    async function* endless(): AsyncGenerator<string> {
      yield frameLine(head)
      for (pulled = 1; pulled <= total; pulled++) yield frameLine(progress(pulled, randomText(pulled)))
    }
    const pieces = replayPageOf(endless(), { appFolder })
    const begun: string[] = []
    for (let at = 0; at < 2; at++) begun.push((await pieces.next()).value as string)
    expect(blocksOf(begun.join(''), 'recording')).toHaveLength(1)
    expect(pulled).toBeLessThan(total / 2)
    let page = begun.join('')
    for await (const piece of pieces) page += piece
    const blocks = blocksOf(page, 'recording')
    expect(blocks.length).toBeGreaterThan(3)
    for (const block of blocks.slice(0, -1)) expect(block).not.toContain('=')
    expect(unpacked(blocks).toString().split('\n')).toHaveLength(total + 2)
  })

  it('appears only when it is complete', async () => {
    const good = given('good.jsonl', frameLine(head))
    const bytes = await writeReplayPage(good, path('good.html'), { appFolder })
    expect(readFileSync(path('good.html')).length).toBe(bytes)
    const bad = given('bad.jsonl', `${frameLine(head)}no frame\n`)
    await expect(writeReplayPage(bad, path('good.html'), { appFolder })).rejects.toThrow('line 2: not JSON')
    expect(readFileSync(path('good.html')).length).toBe(bytes)
    await expect(writeReplayPage(bad, path('none.html'), { appFolder })).rejects.toThrow('line 2: not JSON')
    await expect(writeReplayPage(path('nowhere'), path('none.html'), { appFolder })).rejects.toThrow('ENOENT')
    await expect(writeReplayPage(good, path('no/such/folder.html'), { appFolder })).rejects.toThrow('ENOENT')
    await expect(writeReplayPage(good, path('none.html'), { appFolder: folder })).rejects.toThrow('is not built')
    expect(readdirSync(folder).filter((name) => name.includes('none') || name.endsWith('.part'))).toEqual([])
  })

  describe('signalbox replay --html', () => {
    it('writes the page and says so', async () => {
      const recording = given('r.jsonl', frameLine(head))
      const { io, printed } = fakeIo()
      expect(await writePage(recording, path('r.html'), io, { appFolder })).toBe(0)
      expect(printed.out).toContain('r.html: 0.0 MB')
      expect(blocksOf(readFileSync(path('r.html'), 'utf8'), 'recording')).toHaveLength(1)
    })

    it('never overwrites the recording, and reports errors', async () => {
      const recording = given('kept.jsonl', 'hello\n')
      const { io, printed } = fakeIo()
      expect(await runCli(['replay', recording, '--html', recording], io)).toBe(2)
      expect(await runCli(['replay', path('nowhere'), '--html', path('x.html')], io)).toBe(2)
      expect(printed.err).toMatch(/would overwrite the recording.*nowhere/s)
      await expect(writePage(recording, path('kept.html'), io, { appFolder })).rejects.toThrow('line 1')
      expect(readFileSync(recording, 'utf8')).toBe('hello\n')
    })
  })
})

/** Data that does not compress well. */
function randomText(seed: number): string {
  let state = seed
  let text = ''
  for (let at = 0; at < 200; at++) {
    state = (state * 1_103_515_245 + 12_345) % 2_147_483_648
    text += state.toString(36)
  }
  return text
}
