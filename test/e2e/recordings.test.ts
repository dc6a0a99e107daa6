import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { createRecorder, type Frame, frameLine } from '../../src/inspect/index.ts'
import { tokenOf } from '../inspect/server/support.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush, takeAll, testTurn } from '../support/turn.ts'
import { scrubByFrame, shownOn, useBrowser } from './support.ts'

const stage = useBrowser()
const folder = mkdtempSync(join(tmpdir(), 'signalbox-recordings-'))
afterAll(() => rmSync(folder, { recursive: true }))

const fileWith = (name: string, text: string): string => {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

const script = '<img src=x onerror=alert(1)><script>alert(2)</script>'

/** A short run with hostile names. */
async function recorded(): Promise<string> {
  const frames: Frame[] = []
  const read = heldTool('Read', { safe: true })
  const { executor, add } = testTurn([read.tool])
  createRecorder({ onFrame: (frame) => frames.push(frame) }).watch(executor, { title: script })
  add('a', 'Read', { file_path: script })
  add(script, script, { file_path: script })
  read.run('a').finish({ data: script })
  await flush()
  takeAll(executor)
  return frames.map(frameLine).join('')
}

describe('a recording', () => {
  it('saved and opened again gives the same views at every moment', async () => {
    const read = heldTool('Read', { safe: true })
    const write = heldTool('Write')
    const { executor, add } = testTurn([read.tool, write.tool])
    add('a', 'Read')
    const server = await stage.serve(executor)
    const live = await stage.open(server.url)
    await live.locator('.wagon').waitFor()
    add('b', 'Write')
    read.run('a').finish()
    await flush()
    takeAll(executor)
    await expect.poll(() => live.locator('.tile.ok').count()).toBe(1)
    const [download] = await Promise.all([
      live.waitForEvent('download'),
      live.getByRole('button', { name: 'Save as a recording' }).click(),
    ])
    const path = join(folder, 'saved.jsonl')
    await download.saveAs(path)
    const lines = readFileSync(path, 'utf8').trim().split('\n')
    const empty = await stage.serve([])
    const opened = await stage.open(empty.url)
    await opened.locator('#file').setInputFiles(path)
    await opened.locator('.tile').first().waitFor()
    for (const at of [lines.length, Math.round(lines.length * 0.6), 12, lines.length - 3]) {
      for (const page of [live, opened]) {
        await (await scrubByFrame(page)).fill(String(at))
        await expect.poll(() => page.locator('.clock span').textContent()).toContain(`${at} / `)
      }
      await expect.poll(() => shownOn(opened)).toEqual(await shownOn(live))
    }
    const log = (page: typeof live) => page.locator('.row .what').allTextContents()
    expect(await log(opened)).toEqual(await log(live))
    expect(stage.complaints).toEqual([])
  })

  it('is served by the command line as well', async () => {
    const server = await stage.serve([], { recording: fileWith('served.jsonl', await recorded()) })
    const page = await stage.open(server.url)
    await expect.poll(() => page.locator('.tile').count()).toBe(2)
    expect(await page.locator('.source').textContent()).toBe('recording')
  })

  it('with scripts in its names shows them as text', async () => {
    const server = await stage.serve([])
    const page = await stage.open(server.url)
    await page.locator('#file').setInputFiles(fileWith('scripts.jsonl', await recorded()))
    await expect.poll(() => page.locator('.tile').count()).toBe(2)
    for (const tab of ['Story', 'Guards', 'Aborts', 'Context', 'Sequence', 'What if', 'Compare', 'Log']) {
      await page.getByRole('tab', { name: tab }).click()
      expect(await page.locator('img[src=x], #app script').count()).toBe(0)
    }
    await page.locator('.tile').last().click()
    await expect.poll(() => page.locator('.call-details h3').textContent()).toContain('<img src=x onerror=alert(1)>')
    expect(stage.complaints).toEqual([])
  })

  const head = '{"seq":0,"at":0,"run":0,"type":"head","version":1,"epoch":0}\n'
  const run = '{"seq":1,"at":0,"run":1,"type":"run","title":"t","isLate":false,"maxConcurrency":10,"root":"x:0"}\n'
  const calls = [
    '{"seq":2,"at":0,"run":1,"type":"call","call":"c","actor":"x:1","index":0,"name":"Agent","label":"Agent","input":{},"lane":"shared","stopsAtInterrupt":true,"stage":"executing"}\n',
  ]
  it.each([
    ['of another version', head.replace('"version":1', '"version":99'), 'version 99'],
    ['that is none', 'hello', 'Not a Signalbox recording'],
    ['with a wrong frame', `${head}{"seq":1,"at":0,"run":1,"type":"run","title":{},"isLate":1}\n`, 'not a valid run'],
    ['that is empty', '', 'the file is empty'],
  ])('%s is rejected with a message', async (_, text, problem) => {
    const server = await stage.serve([])
    const page = await stage.open(server.url)
    await page.locator('#file').setInputFiles(fileWith('wrong.jsonl', text))
    await expect.poll(() => page.getByRole('alert').textContent()).toContain(problem)
    expect(stage.complaints).toEqual([])
  })

  it('whose frames are out of order, whose clock goes back or whose names reorder the text says so', async () => {
    const lines = (await recorded()).replaceAll('"label":"', '"label":"\u202e').trim().split('\n')
    const [first = '', ...rest] = lines
    const late = (line: string): string => line.replace(/"at":[\d.]+/, '"at":-5000')
    const server = await stage.serve([])
    const page = await stage.open(server.url)
    const note = page.locator('.kept')
    for (const [name, text, says] of [
      ['order', [first, ...rest.slice(0, 9), ...rest.slice(9).reverse()], 'Out of order: '],
      ['clock', [...lines.slice(0, 12), ...lines.slice(12).map(late)], 'The clock goes back: '],
    ] as const) {
      await page.locator('#file').setInputFiles(fileWith(`${name}.jsonl`, `${text.join('\n')}\n`))
      await expect.poll(() => note.textContent()).toContain(says)
    }
    await page.locator('#file').setInputFiles(fileWith('names.jsonl', `${lines.join('\n')}\n`))
    await expect.poll(() => note.count()).toBe(0)
    await expect.poll(() => page.locator('.tile').first().getAttribute('aria-label')).toContain('⟨U+202E⟩')
    expect(await page.locator('body').textContent()).not.toContain('\u202e')
    expect(stage.complaints).toEqual([])
  })

  it('with 1,000 agents in one call shows the first of their calls, and the others on demand', async () => {
    const agents = Array.from({ length: 1_000 }, (_, at) =>
      [run.replace('"root"', '"parentToolUseID":"c","root"'), calls[0]?.replace('"call":"c"', `"call":"c${at}"`)].map(
        (line = '') => line.replace('"run":1', `"run":${at + 2}`).replace(/"seq":\d+/, `"seq":${at * 2 + 4}`),
      ),
    )
    const server = await stage.serve([])
    const page = await stage.open(server.url)
    await page
      .locator('#file')
      .setInputFiles(fileWith('agents.jsonl', [head, run, ...calls, ...agents.flat()].join('')))
    const more = page.locator('.conversation .agent button', { hasText: 'and 940 more' })
    await more.waitFor()
    expect(await page.locator('.conversation .agent .line').count()).toBe(60)
    expect(await page.locator('.conversation .agent > .sum').textContent()).toContain('1000 turns · 1000 calls')
    await more.click()
    await expect.poll(() => page.locator('.conversation .agent .line').count()).toBe(1_000)
  })

  it('that is truncated, nests deeply or refers to unknown things is shown as far as possible', async () => {
    const server = await stage.serve([])
    const page = await stage.open(server.url)
    const call = (id: string, index: number, input: string) =>
      `{"seq":3,"at":1,"run":1,"type":"call","call":"${id}","actor":"x:9","index":${index},"name":"Read","label":"Read","input":${input},"lane":"shared","stopsAtInterrupt":true,"stage":"queued"}\n`
    const text = [
      head,
      run,
      call('a', 0, `${'['.repeat(20_000)}${']'.repeat(20_000)}`),
      call('far', 900_000_000, '1'),
      '{"seq":4,"at":2,"run":1,"type":"schedule","waits":[{"because":"toString","blockers":["nobody"],"calls":[[0,999999999]]}],"stages":[["nobody","executing","shared"]]}\n',
      '{"seq":5,"at":3,"run":1,"type":"step","actor":"nobody","event":"x","transitions":[99],"active":[77]}\n',
      '{"seq":6,"at":4,"run":7,"type":"left"}\n',
      '{"seq":7,"at":5,"run":1,"type":"progress","call":"a","count":1,"data":{"__proto__":{"polluted":true}}}\n',
      '{"seq":8,"at":5,"run":1,"type":"chart","chart":{"id":"call","nodes":[{"id":0,"key":"a","parent":1,"kind":"compound","initial":null,"entry":[],"exit":[],"tags":[]},{"id":1,"key":"b","parent":0,"kind":"compound","initial":null,"entry":[],"exit":[],"tags":[]}],"transitions":[]}}\n',
      '{"seq":9,"at":6,"run":1,"type":"pro',
    ].join('')
    await page.locator('#file').setInputFiles(fileWith('odd.jsonl', text))
    await expect.poll(() => page.locator('.tile').count()).toBe(1)
    await page.locator('.tile').click()
    await expect.poll(() => page.locator('.call-details').textContent()).toContain('[[[[[[…]]]]]]')
    await page.getByRole('tab', { name: 'Log' }).click()
    await expect.poll(() => page.locator('.gap').textContent()).toContain('did not receive')
    expect(await page.evaluate(() => 'polluted' in {})).toBe(false)
    expect(stage.complaints).toEqual([])
  })
})

/** Three fetches of 100 ms each, one after the other, because they are not marked as safe. */
async function threeFetches(failing?: string): Promise<string> {
  const frames: Frame[] = []
  const fetch = heldTool('Fetch')
  const { executor, add, clock } = testTurn([fetch.tool], { maxConcurrency: 2 })
  createRecorder({ onFrame: (frame) => frames.push(frame), now: () => clock.now() }).watch(executor)
  for (const id of ['a', 'b', script]) add(id, 'Fetch', { url: id })
  for (const id of ['a', 'b', script]) {
    clock.increment(100)
    if (id === failing) fetch.run(id).fail(new Error('no answer'))
    else fetch.run(id).finish()
    await flush()
  }
  takeAll(executor)
  return frames.map(frameLine).join('')
}

describe('a simulated run', () => {
  it('equals the recorded run until a limit or a class is changed, and can be opened as a recording', async () => {
    const server = await stage.serve([])
    const page = await stage.open(server.url)
    await page.locator('#file').setInputFiles(fileWith('fetches.jsonl', await threeFetches()))
    await page.getByRole('tab', { name: 'What if' }).click()
    const sum = page.locator('.what-if .sum')
    await expect.poll(() => sum.textContent()).toContain('300 ms, as recorded. No call starts')
    await page.getByRole('button', { name: 'Fetch: unsafe' }).click()
    await expect.poll(() => sum.textContent()).toContain('300 ms → 200 ms: 100 ms, 33 % shorter. 2 of 3 calls start')
    expect(await page.locator('.compared .said').allTextContents()).toEqual([
      'same start',
      '100 ms earlier',
      '100 ms earlierwaits for a free slot: 2 of 2 in use',
    ])
    await page.getByLabel('How many safe calls may run at once').fill('3')
    await expect.poll(() => sum.textContent()).toContain('300 ms → 100 ms')
    await page.locator('.compared .mark').first().click()
    await expect.poll(() => sum.textContent()).toContain('300 ms → 200 ms')
    await page.getByRole('button', { name: 'As recorded' }).click()
    await expect.poll(() => sum.textContent()).toContain('as recorded')
    await page.getByRole('button', { name: 'Fetch: unsafe' }).click()
    await expect.poll(() => sum.textContent()).toContain('200 ms')
    await page.getByRole('button', { name: 'Open as a recording' }).click()
    await page.getByRole('tab', { name: 'Log' }).click()
    await (await scrubByFrame(page)).fill('30')
    await expect.poll(() => page.locator('.track.shared .wagon').count()).toBeGreaterThan(0)
    expect(await page.locator('img[src=x], #app script').count()).toBe(0)
    expect(stage.complaints).toEqual([])
  })

  it('shows why it cannot be simulated, and can include newer frames of a live run', async () => {
    const fetch = heldTool('Fetch', { safe: true })
    const { executor, add } = testTurn([fetch.tool], { maxConcurrency: 1 })
    const server = await stage.serve(executor, { record: 'always' })
    add('a', 'Fetch')
    add('b', 'Fetch')
    const live = await stage.open(server.url)
    await live.getByRole('tab', { name: 'What if' }).click()
    await expect.poll(() => live.locator('.doubt').last().textContent()).toContain('do not end in the recording')
    fetch.run('a').finish()
    await flush()
    fetch.run('b').finish()
    await flush()
    takeAll(executor)
    await live.getByRole('button', { name: 'Include them' }).click()
    await expect.poll(() => live.locator('.what-if .sum').textContent()).toContain('as recorded')
    const lost = (await threeFetches()).replace(
      /\n$/,
      '\n{"seq":9999,"at":300,"run":0,"type":"gap","because":"slow","lost":3}\n',
    )
    const page = await stage.open((await stage.serve([])).url)
    await page.locator('#file').setInputFiles(fileWith('lost.jsonl', lost))
    await page.getByRole('tab', { name: 'What if' }).click()
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('frames are missing')
    expect(stage.complaints).toEqual([])
  })
})

describe('a second recording', () => {
  it('is compared with the first, and rejected with a message if it is invalid', async () => {
    const server = await stage.serve([])
    const page = await stage.open(server.url)
    await page.locator('#file').setInputFiles(fileWith('first.jsonl', await threeFetches()))
    await page.getByRole('tab', { name: 'Compare' }).click()
    const other = page.locator('#other')
    const fine = await threeFetches()
    for (const [text, problem] of [
      ['hello', 'Not a Signalbox recording'],
      [fine.replace('"version":1', '"version":99'), 'version 99'],
      [fine.split('\n', 1)[0] as string, 'it contains no run'],
    ] as const) {
      await other.setInputFiles(fileWith('second.jsonl', text))
      await expect.poll(() => page.getByRole('alert').textContent()).toContain(problem)
    }
    await other.setInputFiles(fileWith('second.jsonl', fine))
    const sum = page.locator('.against .sum')
    await expect
      .poll(() => sum.textContent())
      .toContain('All 3 calls are the same. This run: 300 ms, other run: 300 ms.')
    await other.setInputFiles(fileWith('second.jsonl', await threeFetches('b')))
    await expect.poll(() => sum.textContent()).toContain('1 of 3 calls differ.')
    expect(await page.locator('.compared .said').allTextContents()).toEqual([
      'same',
      'different outcomea result | an error',
      'same',
    ])
    await page.getByLabel('only differences').check()
    await expect.poll(() => page.locator('.compared .said').count()).toBe(1)
    expect(await page.locator('img[src=x], #app script').count()).toBe(0)
    expect(stage.complaints).toEqual([])
  })
})

describe('a page of another origin', () => {
  it('can neither connect, even with the token, nor embed the inspector', async () => {
    const read = heldTool('Read', { safe: true })
    const { executor } = testTurn([read.tool])
    const server = await stage.serve(executor, { commands: true })
    const { port } = new URL(server.url)
    const evil = createServer((_, response) => {
      response.writeHead(200, { 'Content-Type': 'text/html' })
      response.end(`<!doctype html><iframe src="${server.url}"></iframe>`)
    })
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve))
    try {
      const page = await stage.open(`http://127.0.0.1:${(evil.address() as AddressInfo).port}/`)
      const outcome = await page.evaluate(
        ([address, token]) =>
          new Promise<string>((resolve) => {
            const socket = new WebSocket(`ws://${address}`, ['signalbox.inspect.v1', `token.${token}`])
            socket.onopen = () => resolve('open')
            socket.onerror = () => resolve('refused')
          }),
        [`127.0.0.1:${port}`, tokenOf(server.url)],
      )
      expect(outcome).toBe('refused')
      expect(page.frames().filter((frame) => frame.url().startsWith(new URL(server.url).origin))).toEqual([])
    } finally {
      evil.close()
    }
  })
})
