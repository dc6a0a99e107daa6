import { copyFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { CDPSession, Page } from 'playwright-core'
import { build } from 'vite'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { frameLine } from '../../src/inspect/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { testTurn } from '../support/turn.ts'
import { counting } from './counting.ts'
import type {} from './host-page/main.ts'
import { staticFiles } from './static-files.ts'
import { someLooks, useBrowser, violations } from './support.ts'

const stage = useBrowser()
let files: Awaited<ReturnType<typeof staticFiles>>

/** A host's page, bundled by its own Vite, with the published inspector. */
beforeAll(async () => {
  await build({
    configFile: false,
    logLevel: 'error',
    root: join(import.meta.dirname, 'host-page'),
    base: './',
    resolve: {
      alias: [
        { find: /^signalbox$/, replacement: join(stage.dist, 'src/index.js') },
        { find: /^signalbox\/inspect$/, replacement: join(stage.dist, 'src/inspect/index.js') },
        { find: /^signalbox\/inspect\/app$/, replacement: join(stage.dist, 'inspector-app/embed/index.js') },
      ],
    },
    build: { outDir: join(stage.folder, 'host'), emptyOutDir: true, target: 'es2022' },
  })
  files = await staticFiles(join(stage.folder, 'host'))
})
afterAll(() => files.close())

const inside = (page: Page, box: string) => page.locator(`#${box} .inspector`)

describe('an inspector in a host’s page', () => {
  it('shows executors of that page, accepts its commands, and detaches when it is unmounted', async () => {
    const page = await stage.open(files.url)
    await page.evaluate(() => {
      const executor = host.heldTurn()
      const mounted = host.mountInspector(document.querySelector('#one') as Element, {
        shown: executor,
        commands: true,
      })
      Object.assign(globalThis, { executor, mounted })
    })
    await expect
      .poll(() => inside(page, 'one').locator('.track.shared .wagon .label').allTextContents())
      .toEqual(['1 Read(a.ts)', '2 Read(b.ts)'])
    await inside(page, 'one').locator('.chart.call .edge').first().waitFor()
    await inside(page, 'one').getByRole('button', { name: 'Stop this turn' }).click()
    await expect.poll(() => inside(page, 'one').locator('.run-state').textContent()).toContain('aborted')
    expect(await page.evaluate('executor.actor.getSnapshot().value.run')).toBe('aborted')
    await page.evaluate('mounted.unmount(); mounted.unmount()')
    expect(await page.evaluate(() => document.querySelector('#one')?.innerHTML)).toBe('')
    expect(stage.complaints).toEqual([])
  })

  it('neither uses the page’s styles nor changes them, and stores nothing', async () => {
    const page = await stage.open(files.url)
    const lookOf = () =>
      page.evaluate(() => {
        const { color, fontSize, display, height } = getComputedStyle(document.querySelector('h1') as Element)
        const outside = document.documentElement.cloneNode(true) as Element
        for (const box of outside.querySelectorAll('.box')) box.replaceChildren()
        return { color, fontSize, display, height, outside: outside.outerHTML, kept: localStorage.length }
      })
    const before = await lookOf()
    await page.evaluate(() => {
      host.mountInspector(document.querySelector('#one') as Element, { shown: host.heldTurn() }, { theme: 'dark' })
    })
    await inside(page, 'one').locator('.chart.call .edge').first().waitFor()
    const tile = inside(page, 'one').locator('.tile').first()
    expect(
      await tile.evaluate((element) => {
        const { display, letterSpacing, textTransform, fontSize, lineHeight } = getComputedStyle(element)
        return { display, letterSpacing, textTransform, fontSize, lineHeight }
      }),
    ).toEqual({
      display: 'grid',
      letterSpacing: 'normal',
      textTransform: 'none',
      fontSize: '12px',
      lineHeight: expect.stringMatching(/^1\d(\.\d+)?px$/),
    })
    expect(await inside(page, 'one').evaluate((element) => getComputedStyle(element).colorScheme)).toBe('dark')
    expect(await inside(page, 'one').evaluate((element) => element.getBoundingClientRect().height)).toBe(700)
    expect(await lookOf()).toEqual(before)
    expect(stage.complaints).toEqual([])
  })

  it.each([620, 480])('shows the whole time bar in a box of %i pixels', async (height) => {
    const page = await stage.open(files.url)
    await page.evaluate((high) => {
      const box = document.getElementById('one') as HTMLElement
      Object.assign(box.style, { height: `${high}px`, width: '1200px' })
      host.mountInspector(box, { shown: host.heldTurn() })
    }, height)
    await inside(page, 'one').locator('.tile').first().waitFor()
    const box = await page.locator('#one').boundingBox()
    const bar = await inside(page, 'one').locator('.scrubber').boundingBox()
    expect((bar?.y ?? 0) + (bar?.height ?? 0)).toBeLessThanOrEqual((box?.y ?? 0) + (box?.height ?? 0) + 1)
  })

  it.each(someLooks)('has no fault that axe finds, $colorScheme, $viewport.width pixels wide', async (look) => {
    const page = await stage.open(files.url, look)
    await page.evaluate(() => {
      host.mountInspector(document.getElementById('one') as Element, { shown: host.heldTurn(), commands: true })
    })
    await inside(page, 'one').locator('.tile').first().waitFor()
    const found = await violations(page, '#one')
    for (const tab of await inside(page, 'one').getByRole('tab').all()) {
      await tab.click()
      found.push(...(await violations(page, ['#one > *', '.details'])))
    }
    expect(found).toEqual([])
  })

  it('handles keys only inside its box, each of several inspectors separately', async () => {
    const page = await stage.open(files.url)
    await page.evaluate(() => {
      for (const id of ['one', 'two']) {
        host.mountInspector(document.getElementById(id) as Element, { shown: host.heldTurn() })
      }
    })
    const tabOf = (box: string) => inside(page, box).locator('[role=tab][aria-selected=true]').textContent()
    await inside(page, 'two').locator('.tile').first().waitFor()
    await page.locator('#field').focus()
    await page.keyboard.press('3')
    await page.locator('#field').blur()
    await page.keyboard.press('3')
    expect([await tabOf('one'), await tabOf('two')]).toEqual(['Story', 'Story'])
    expect(await page.locator('#field').inputValue()).toBe('3')
    await inside(page, 'two')
      .locator('.lanes')
      .click({ position: { x: 40, y: 150 } })
    await page.keyboard.press('4')
    // with the number of refusals
    await expect.poll(() => tabOf('two')).toBe('Guards 1')
    expect(await tabOf('one')).toBe('Story')
    expect(stage.complaints).toEqual([])
  })

  it('shows an existing recorder, recordings in every form, and a server that allows the page', async () => {
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([read.tool])
    add('x', 'Read')
    const server = await stage.serve(executor, { origins: [new URL(files.url).origin] })
    const recording = join(stage.folder, 'host.jsonl')
    const page = await stage.open(files.url)
    const lines = await page.evaluate(() => {
      const frames: object[] = []
      const recorder = host.createRecorder({ onFrame: (frame) => frames.push(frame) })
      recorder.watch(host.heldTurn())
      Object.assign(globalThis, { recorder, frames })
      return frames
    })
    writeFileSync(recording, lines.map((frame) => frameLine(frame as never)).join(''))
    const recorded = await stage.serve([], { recording, origins: [new URL(files.url).origin] })
    const labels = ['1 Read(a.ts)', '2 Read(b.ts)']
    const sources: [string, string, string[]][] = [
      ['the recorder', '{ recorder }', labels],
      ['frames', '{ recording: frames }', labels],
      ['a text', '{ recording: frames.map((frame) => JSON.stringify(frame)).join("\\n") + "\\n" }', labels],
      ['a blob', '{ recording: new Blob(frames.map((frame) => JSON.stringify(frame) + "\\n")) }', labels],
      ['a stream', '{ recording: new Blob(frames.map((frame) => JSON.stringify(frame) + "\\n")).stream() }', labels],
      ['a server', `{ url: ${JSON.stringify(server.url)} }`, ['1 Read']],
      ['a server with a recording', `{ url: new URL(${JSON.stringify(recorded.url)}) }`, labels],
    ]
    for (const [name, source, wanted] of sources) {
      await page.evaluate(`mounted = host.mountInspector(document.querySelector('#one'), ${source})`)
      await expect
        .poll(() => inside(page, 'one').locator('.wagon .label').allTextContents(), { message: name })
        .toEqual(wanted)
      await page.evaluate('mounted.unmount()')
    }
    const isLeft = await page.evaluate(() => {
      const cancelled: unknown[] = []
      const recording = new ReadableStream<Uint8Array>({ cancel: (why) => void cancelled.push(why) })
      host.mountInspector(document.querySelector('#one') as Element, { recording }).unmount()
      return cancelled.length
    })
    expect(isLeft).toBe(1)
    expect(stage.complaints).toEqual([])
  })

  it('works under a strict CSP: charts of other versions only with edges if the page serves the worker', async () => {
    const worker = join(stage.dist, 'inspector-app/elk/elk-worker.min.js')
    copyFileSync(worker, join(stage.folder, 'host/elk-worker.min.js'))
    const strict = await staticFiles(join(stage.folder, 'host'), {
      'Content-Security-Policy': "default-src 'none'; script-src 'self'; worker-src 'self'; img-src data:",
    })
    try {
      const page = await stage.open(strict.url)
      const mount = (source: 'shown' | 'recording', options: object): Promise<void> =>
        page.evaluate(
          ([source, given]) => {
            const box = document.querySelector('#one') as HTMLElement
            // the page's own inline styles are forbidden here
            box.style.height = '700px'
            const frames: string[] = []
            host.createRecorder({ onFrame: (frame) => frames.push(JSON.stringify(frame)) }).watch(host.heldTurn())
            const recording = `${frames.join('\n').replaceAll('"key":"queued"', '"key":"inLine"')}\n`
            const shown = source === 'shown' ? { shown: host.heldTurn() } : { recording }
            Object.assign(globalThis, { mounted: host.mountInspector(box, shown, given) })
          },
          [source, options] as const,
        )
      await mount('shown', {})
      await inside(page, 'one').locator('.chart.call .edge').first().waitFor()
      expect(stage.complaints.filter((line) => !/inline style/.test(line))).toEqual([])
      await page.evaluate('mounted.unmount()')
      await mount('recording', {})
      await inside(page, 'one').locator('.chart.call [data-state=inLine]').first().waitFor()
      expect(
        await inside(page, 'one')
          .locator('.tile')
          .first()
          .evaluate((tile) => getComputedStyle(tile).display),
      ).toBe('grid')
      expect(await inside(page, 'one').locator('.chart.call .edge').count()).toBe(0)
      await page.evaluate('mounted.unmount()')
      // only the worker is blocked
      expect(stage.complaints.filter((line) => !/inline style|blob:/.test(line))).toEqual([])
      stage.complaints.length = 0
      await mount('recording', { workerUrl: new URL('elk-worker.min.js', strict.url).href })
      await inside(page, 'one').locator('.chart.call .edge').first().waitFor()
      // the browser may still complain about the worker of before
      expect(stage.complaints.filter((line) => !/blob:/.test(line))).toEqual([])
    } finally {
      strict.close()
    }
  })

  it('reports invalid arguments, and leaves nothing behind', async () => {
    const page = await stage.open(files.url)
    const saidTo = (args: string): Promise<string> =>
      page.evaluate(
        `(() => { try { host.mountInspector(${args}); return 'mounted' } catch (error) { return error.name + ': ' + error.message } })()`,
      )
    const one = 'document.querySelector("#one")'
    expect(await saidTo('null, { recording: "" }')).toMatch(/^SignalboxError: element: expected an element of the page/)
    expect(await saidTo(`${one}, undefined`)).toMatch(/^SignalboxError: source: expected an object/)
    expect(await saidTo(`${one}, {}`)).toMatch(
      /^SignalboxError: source: expected an object with shown, recorder, url or/,
    )
    expect(await saidTo(`${one}, { recording: 7 }`)).toMatch(/^SignalboxError: source.recording: expected a Blob/)
    expect(await saidTo(`${one}, { url: "http://127.0.0.1:1/" }`)).toMatch(/with its token, received/)
    expect(await saidTo(`${one}, { shown: {} }`)).toMatch(
      /^SignalboxError: Expected an executor, a query or a connection to show/,
    )
    expect(await page.evaluate(() => document.querySelector('#one')?.childElementCount)).toBe(0)
    expect(await saidTo(`${one}, { recording: "hello\\n" }`)).toBe('mounted')
    await expect.poll(() => inside(page, 'one').getByRole('alert').textContent()).toContain('line 1: not JSON')
  })
})

interface Counts {
  readonly nodes: number
  readonly listeners: number
  readonly documents: number
  readonly timers: number
  readonly pictures: number
  readonly sockets: number
  readonly observers: number
  readonly workers: number
}

async function countsOf(page: Page, session: CDPSession): Promise<Counts> {
  for (let times = 0; times < 3; times++) await session.send('HeapProfiler.collectGarbage')
  const { nodes, jsEventListeners, documents } = await session.send('Memory.getDOMCounters')
  const left = (await page.evaluate('left()')) as Pick<Counts, 'timers' | 'pictures' | 'sockets' | 'observers'>
  return {
    nodes,
    documents,
    listeners: jsEventListeners,
    workers: page.workers().length,
    ...left,
  }
}

describe('a hundred inspectors, one after the other', () => {
  it('leave no node, listener, worker, timer, observer or socket behind', async () => {
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([read.tool])
    add('x', 'Read')
    const server = await stage.serve(executor, { origins: [new URL(files.url).origin] })
    const page = await stage.open('about:blank')
    await page.addInitScript(counting)
    await page.goto(files.url)
    await page.evaluate(() => {
      const frames: object[] = []
      const recorder = host.createRecorder({ onFrame: (frame) => frames.push(frame) })
      const turn = host.heldTurn()
      recorder.watch(turn)
      Object.assign(globalThis, { recorder, frames, turn })
    })
    /** Mounts one inspector of each kind, one after the other, and waits until its calls are drawn. */
    const mountTimes = (times: number): Promise<void> =>
      page.evaluate(
        `(async () => {
          const sources = [
            () => ({ shown: turn, commands: true }),
            () => ({ recorder }),
            () => ({ recording: [...frames] }),
            () => ({ url: ${JSON.stringify(server.url)} }),
          ]
          const box = document.querySelector('#one')
          for (let at = 0; at < ${times}; at++) {
            const mounted = host.mountInspector(box, sources[at % sources.length]())
            const isDrawn = () => box.firstElementChild.shadowRoot.querySelector('.wagon') !== null
            while (!isDrawn()) await new Promise(requestAnimationFrame)
            mounted.unmount()
          }
          await new Promise(requestAnimationFrame)
        })()`,
      )
    const session = await page.context().newCDPSession(page)
    await session.send('DOM.enable')
    await mountTimes(8)
    await expect.poll(async () => (await countsOf(page, session)).sockets).toBe(0)
    const before = await countsOf(page, session)
    const { usedSize: usedBefore } = await session.send('Runtime.getHeapUsage')
    await mountTimes(40)
    await expect.poll(() => countsOf(page, session)).toEqual(before)
    const { usedSize } = await session.send('Runtime.getHeapUsage')
    // last, because the console keeps a reference to what it shows
    expect((await session.send('DOM.getDetachedDomNodes')).detachedNodes).toEqual([])
    expect(usedSize - usedBefore).toBeLessThan(1_000_000)
    expect(before).toMatchObject({ workers: 0, timers: 0, pictures: 0, sockets: 0, observers: 0 })
    expect(stage.complaints).toEqual([])
  })
})
