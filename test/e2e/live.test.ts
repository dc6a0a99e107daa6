import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connectMcp } from '../../packages/mcp/src/index.ts'
import { newToken, nothingLeft, programOf } from '../../packages/mcp/test/support.ts'
import { startTurn } from '../../packages/mcp/test/turn.ts'
import { type CanUseTool, createLocks } from '../../src/index.ts'
import { createRecorder, type Frame } from '../../src/inspect/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { drain, flush, stateOf, takeAll, testTurn } from '../support/turn.ts'
import { type Shown, scrubByFrame, shownBy, shownOn, useBrowser } from './support.ts'

const stage = useBrowser({ reducedMotion: 'no-preference' })

const setUp = (options: Parameters<typeof testTurn>[1] = {}) => {
  const read = heldTool('Read', { safe: true, cancel: true, obedient: true })
  const write = heldTool('Write', { obedient: true })
  return { read, write, ...testTurn([read.tool, write.tool], options) }
}

describe('the inspector, attached late to a run', () => {
  it('shows the state of every call as in the snapshots, and follows', async () => {
    const { executor, add, read, write } = setUp()
    add('a', 'Read')
    add('b', 'Read')
    add('c', 'Write')
    const server = await stage.serve(executor)
    const page = await stage.open(server.url)
    const isAsExecutor = async () => {
      await expect.poll(() => shownOn(page)).toMatchObject(shownBy(executor))
    }
    await isAsExecutor()
    for (const index of [0, 1, 2]) {
      await page.locator('.tile').nth(index).click()
      const state = ['a', 'b', 'c'].map((id) => stateOf(executor, id))[index] as string
      await expect.poll(async () => (await shownOn(page)).call).toContain(`active: ${state}`)
    }
    read.run('b').finish()
    await flush()
    await isAsExecutor()
    read.run('a').finish()
    await flush()
    await isAsExecutor()
    write.run('c').finish()
    await flush()
    takeAll(executor)
    await isAsExecutor()
    expect(stage.complaints).toEqual([])
  })

  it('K6 says who holds the key of another run that a call waits for, and leads there', async () => {
    const edit = heldTool('Edit', { resources: () => ({ writes: ['file:/notes.md'] }) })
    const context = { locks: createLocks() }
    const [one, other] = [testTurn([edit.tool], { context }), testTurn([edit.tool], { context })]
    one.add('first', 'Edit')
    const server = await stage.serve(one.executor)
    server.add(other.executor)
    other.add('second', 'Edit')
    await flush()
    const page = await stage.open(server.url)
    const words = 'waits for key file:/notes.md, held by Edit (first)'
    await expect.poll(async () => (await shownOn(page)).shared).toEqual([`1 Edit${words}`])
    await page.locator('.wagon').click()
    await expect.poll(() => page.locator('.why-box').textContent()).toContain(`${words}, for`)
    await page.locator('.why-box .link').click()
    await expect.poll(() => page.locator('.call-details header code').textContent()).toBe('first')
    edit.run('first').finish()
    await flush()
    expect(stage.complaints).toEqual([])
  })

  it('flashes the edge that was taken', async () => {
    const { executor, add, write } = setUp()
    add('a', 'Write')
    const server = await stage.serve(executor)
    const page = await stage.open(server.url)
    await page.locator('.chart.call .edge').first().waitFor()
    write.run('a').finish()
    const flash = page.locator('.chart.call .flash')
    await expect.poll(() => flash.count()).toBe(1)
    const label = page.locator('.chart.call .edge-label text')
    await expect.poll(() => label.allTextContents()).toEqual(['tool.settled'])
    expect(await page.locator('.chart.call .state.active.leaf').getAttribute('data-state')).toBe('durable')
  })

  it('Q4 says why a call waits, for each rule, for which calls, and since when', async () => {
    const { executor, add, read } = setUp({ maxConcurrency: 2 })
    const server = await stage.serve(executor)
    const page = await stage.open(server.url)
    const why = async (label: string) => (await shownOn(page)).queue.find((row) => row.includes(label))
    add('a', 'Read', { file_path: 'a' })
    add('b', 'Read', { file_path: 'b' })
    add('c', 'Read', { file_path: 'c' })
    await expect.poll(() => why('Read(c)')).toBe('3Read(c)waits for a free slot: 2 of 2 in use')
    add('d', 'Read', { file_path: 'd' }, { hold: true })
    await expect.poll(() => why('Read(d)')).toBe('4Read(d)waits to be released')
    add('e', 'Write', { file_path: 'e' })
    await expect.poll(() => why('Write(e)')).toBe('5Write(e)must run alone, waits for #1 Read and #2 Read')
    read.run('a').finish()
    await flush()
    add('f', 'Read', { file_path: 'f' })
    await expect.poll(() => why('Read(f)')).toBe('6Read(f)waits behind #5 Write, which must run alone')
    read.run('b').finish()
    read.run('c').finish()
    await expect.poll(() => why('Read(f)')).toBe('6Read(f)waits for #5 Write, which must run alone')
    await page.locator('.waiting', { hasText: 'Read(f)' }).click()
    const box = page.locator('.why-box')
    await expect
      .poll(() => box.textContent())
      .toMatch(/waits for #5 Write, which must run alone, for [\d.]+ m?s.*rule exclusiveRunning · waits for Write\(e\)/)
  })

  it('scrubbed back, shows exactly the earlier state', async () => {
    const { executor, add, read, write } = setUp()
    const server = await stage.serve(executor, { record: 'always' })
    // gets the same frames as the server's recorder, so that its count equals the page's position
    const frames: Frame[] = []
    createRecorder({ onFrame: (frame) => frames.push(frame) }).watch(executor)
    const moments: { position: number; expected: ReturnType<typeof shownBy> }[] = []
    const note = async () => {
      await flush()
      moments.push({ position: frames.length, expected: shownBy(executor) })
    }
    for (const [id, name] of [
      ['a', 'Read'],
      ['b', 'Read'],
      ['c', 'Write'],
      ['d', 'Read'],
    ] as const) {
      add(id, name)
      await note()
    }
    read.run('b').finish()
    await note()
    read.run('a').finish()
    await note()
    takeAll(executor)
    await note()
    write.run('c').finish()
    await note()
    read.run('d').finish()
    await note()
    takeAll(executor)
    await note()
    const page = await stage.open(server.url)
    const slider = await scrubByFrame(page)
    await expect.poll(() => slider.getAttribute('max')).toBe(String(frames.length))
    for (const { position, expected } of [...moments].reverse().concat(moments)) {
      await slider.fill(String(position))
      await expect.poll(() => shownOn(page)).toMatchObject(expected)
    }
    expect(stage.complaints).toEqual([])
  })
})

describe('commands from the browser', () => {
  it('P6 approving lets the call go on, denying does not, and the first answer counts', async () => {
    const host: CanUseTool = () => new Promise(() => undefined)
    const { executor, add, write } = setUp({ canUseTool: host })
    add('a', 'Write', { file_path: 'src/a.ts' })
    const server = await stage.serve(executor, { commands: ['answer'] })
    const page = await stage.open(server.url)
    await page.getByRole('button', { name: 'Allow' }).click()
    await expect.poll(() => write.started).toEqual(['a'])
    await expect.poll(() => page.locator('.question').count()).toBe(0)
    expect(executor.answer('a', { behavior: 'deny', message: 'too late' })).toBe(false)
    add('b', 'Write', { file_path: 'src/b.ts' })
    write.run('a').finish()
    await page.getByRole('button', { name: 'Deny' }).click()
    const updates = await drain(executor)
    expect(JSON.stringify(updates.at(-1)?.message)).toContain('denied')
    expect(write.started).toEqual(['a'])
  })

  it('A3 A4 are offered only if the host allows them and the chart accepts them', async () => {
    const { executor, add } = setUp()
    add('a', 'Read')
    const silent = await stage.serve(executor)
    const onlooker = await stage.open(silent.url)
    await onlooker.locator('.wagon').waitFor()
    expect(await onlooker.locator('.commands button').count()).toBe(0)
    const server = await stage.serve(executor, { commands: true })
    const page = await stage.open(server.url)
    await expect
      .poll(() => page.locator('.commands button').allTextContents())
      .toEqual(['Interrupt this turn', 'Stop this turn', 'Discard this turn'])
    add('b', 'Write')
    await page.getByRole('button', { name: 'Stop this turn' }).click()
    await expect.poll(() => stateOf(executor, 'a')).toBe('completed')
    await expect.poll(() => page.locator('.commands button').allTextContents()).toEqual(['Discard this turn'])
    await page.getByRole('tab', { name: 'Aborts' }).click()
    await expect
      .poll(() => page.locator('.abort').textContent())
      .toMatch(/the host.*user_interrupted.*#1 Read.*#2 Write.*never started/)
  })
})

describe('the page', () => {
  it('sends requests only to its own server, and violates no content security policy', async () => {
    const { executor, add } = setUp()
    add('a', 'Read')
    const server = await stage.serve(executor)
    const page = await stage.open('about:blank')
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.goto(server.url)
    await page.locator('.chart.call .edge').first().waitFor()
    const { origin } = new URL(server.url)
    expect(asked.length).toBeGreaterThan(3)
    expect(asked.filter((url) => new URL(url).origin !== origin)).toEqual([])
    expect(asked.join()).not.toContain('token')
    // the build has laid out every chart of its own
    expect(asked.join()).not.toContain('elk-worker')
    expect(stage.complaints).toEqual([])
  })

  it.each([1, 1_000])('stays usable with %i calls', async (count) => {
    const { executor, add, read } = setUp()
    const server = await stage.serve(executor)
    const page = await stage.open(server.url)
    for (let index = 0; index < count; index++) add(`call-${index}`, 'Read')
    await expect.poll(() => page.locator('.tile').count()).toBe(count)
    read.run('call-0').finish()
    await flush()
    takeAll(executor)
    await expect.poll(() => page.locator('.tile.ok').count()).toBe(1)
    await page.locator('.tile').last().click()
    await expect.poll(() => page.locator('.call-details h3').textContent()).toContain(`#${count}`)
    expect(await page.locator('.virtual .row').count()).toBeLessThan(100)
  })

  it('fits a phone, in both themes, and every control has a name', async () => {
    const { executor, add } = setUp({ canUseTool: () => new Promise(() => undefined) })
    for (const id of ['a', 'b', 'c', 'd'])
      add(id, id === 'c' ? 'Write' : 'Read', { file_path: `src/${id.repeat(60)}.ts` })
    const server = await stage.serve(executor, { commands: true })
    const backgrounds: string[] = []
    for (const colorScheme of ['light', 'dark'] as const) {
      const page = await stage.open(server.url, { viewport: { width: 390, height: 844 }, colorScheme })
      await page.locator('.wagon').first().waitFor()
      for (const tab of ['Call', 'Guards', 'Aborts', 'Context', 'Sequence', 'Log']) {
        await page.getByRole('tab', { name: tab }).click()
        expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
        const nameless = await page.evaluate(() =>
          Array.from(document.querySelectorAll<HTMLElement>('button, input:not([hidden]), select, canvas, svg[role]'))
            .filter((each) => !(each.ariaLabel || each.textContent?.trim() || each.title))
            .map((each) => each.outerHTML),
        )
        expect(nameless).toEqual([])
      }
      const inspector = page.locator('.inspector')
      backgrounds.push(await inspector.evaluate((element) => getComputedStyle(element).backgroundColor))
    }
    expect(new Set(backgrounds).size).toBe(2)
  })

  it('is driven by keys alone', async () => {
    const { executor, add } = setUp()
    for (const id of ['a', 'b', 'c']) add(id, 'Read', { file_path: id })
    const server = await stage.serve(executor)
    const page = await stage.open(server.url)
    await page.locator('.wagon').first().waitFor()
    const title = () => page.locator('.chart.call .title').textContent()
    await page.keyboard.press('j')
    await expect.poll(title).toBe('#2 Read(b)')
    await page.keyboard.press('k')
    await expect.poll(title).toBe('#1 Read(a)')
    const slider = await scrubByFrame(page)
    await page.keyboard.press('Home')
    await expect.poll(() => slider.inputValue()).toBe('0')
    await page.keyboard.press('End')
    await expect.poll(() => page.locator('.follow').getAttribute('aria-pressed')).toBe('true')
    await page.keyboard.press('4')
    await expect.poll(() => page.getByRole('tab', { selected: true }).textContent()).toBe('Guards')
    add('d', 'Read', { file_path: 'd' })
    await page.keyboard.press('/')
    await expect.poll(() => page.evaluate(() => document.activeElement?.id)).toBe('search')
    await page.keyboard.type('read(d)')
    await expect.poll(() => page.locator('.row .detail').allTextContents()).toEqual(['Read(d)', 'Read(d)'])
  })

  it('animates nothing with prefers-reduced-motion', async () => {
    const { executor, add, write } = setUp()
    add('a', 'Write')
    const server = await stage.serve(executor)
    const page = await stage.open(server.url, { reducedMotion: 'reduce' })
    await page.locator('.wagon').waitFor()
    write.run('a').finish()
    await expect
      .poll(async () => (await shownOn(page)).tiles)
      .toEqual(['1 Write: finished, held for order'] satisfies Shown['tiles'])
    expect(await page.evaluate(() => document.getAnimations().length)).toBe(0)
  })
})

describe('the connections of MCP servers', () => {
  const proxy = new URL('../../packages/mcp/test/fault-proxy.mjs', import.meta.url).pathname
  const hostile = '<img src=x onerror=alert(1)>'
  const chips = (page: Page) =>
    page
      .locator('.server')
      .evaluateAll((all) => all.map((chip) => `${chip.getAttribute('data-state')} ${chip.textContent}`))
  const active = (page: Page) => page.locator('.chart.executor svg[role=img]').getAttribute('aria-label')

  it('are drawn before there is a run, and while a server dies under a call that waits for it', async () => {
    const token = newToken()
    const frames: Frame[] = []
    const recorder = createRecorder({ onFrame: (frame) => frames.push(frame) })
    const server = await stage.serve([])
    const page = await stage.open(server.url)
    await page.locator('.source.live').waitFor()
    const mcp = await connectMcp({
      servers: {
        files: {
          command: process.execPath,
          args: [proxy, process.execPath, programOf('everything'), 'stdio'],
          env: { TOKEN: token },
        },
        [hostile]: { command: '/nowhere/at/all' },
      },
      reconnect: { minMs: 1_000_000, maxMs: 1_000_000 },
      waitMs: 1_000_000,
      onConnection: (connection) => {
        server.add(connection)
        recorder.watch(connection)
      },
    })
    onTestFinished(async () => {
      await mcp.close()
      await nothingLeft(token)
    })
    await expect.poll(() => active(page)).toBe('Server files, active: ready')
    await expect
      .poll(() => chips(page))
      .toEqual(['ready filesready', expect.stringContaining(`failed ${hostile}failedthe server could not be started`)])

    const turn = startTurn(mcp.tools(), [['mcp__files__echo', { message: 'fault:die' }]])
    server.add(turn.executor)
    recorder.watch(turn.executor)
    await expect
      .poll(async () => (await chips(page))[0])
      .toMatch(/^backingOff filesbacking off.*exited with code 3one call waits$/)
    await expect
      .poll(async () => (await shownOn(page)).shared)
      .toEqual(['1 mcp__files__echowaits for the server files'])
    await page.locator('.wagon').click()
    await expect
      .poll(() => page.locator('.why-box').textContent())
      .toMatch(/waits for the server files \(backing off: .*exited.*\), for/)
    expect(await active(page)).toMatch(/^Executor/)
    await page.getByRole('button', { name: 'show its chart' }).click()
    await expect.poll(() => active(page)).toBe('Server files, active: backingOff')
    await expect.poll(() => page.locator('.chart.executor .flash').count()).toBe(1)
    await expect
      .poll(() => page.locator('.chart.executor .edge-label text').allTextContents())
      .toEqual(['connection.lost'])
    await page.getByRole('tab', { name: 'Guards' }).click()
    await expect.poll(() => page.locator('.ledgers h3').first().textContent()).toBe('Server files')
    expect(await page.locator('.ledger').first().locator('li li').allTextContents()).toEqual([
      '✗wasLastAttemptready → failed',
      '✓no guardready → backingOff',
    ])

    mcp.reconnect('files')
    await turn.results()
    await expect.poll(async () => (await chips(page))[0]).toMatch(/^backingOff/)
    await page.locator('.server').first().click()
    await expect.poll(() => active(page)).toMatch(/^Executor/)

    // its recording shows the same at each moment
    const recording = join(stage.folder, 'servers.jsonl')
    writeFileSync(recording, frames.map((frame) => `${JSON.stringify(frame)}\n`).join(''))
    const replayed = await stage.open((await stage.serve([], { recording })).url)
    await expect.poll(async () => (await chips(replayed))[0]).toMatch(/^backingOff/)
    await replayed.keyboard.press('Home')
    await replayed.keyboard.press('Shift+ArrowRight')
    await expect.poll(() => chips(replayed)).not.toEqual([])
    await replayed.keyboard.press('End')
    await replayed.locator('.server').nth(1).click()
    await expect.poll(() => active(replayed)).toBe(`Server ${hostile}, active: failed`)
    expect(await replayed.locator('img').count()).toBe(0)
    expect(stage.complaints).toEqual([])
  })
})
