import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import axe from 'axe-core'
import { type Browser, type BrowserContextOptions, chromium, type Locator, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll } from 'vitest'
import { builtProject } from '../../scripts/built-project.mjs'
import { chromiumArguments, findChromium } from '../../scripts/find-chromium.mjs'
import type { StreamingToolExecutor } from '../../src/index.ts'
import { type InspectorOptions, type InspectorServer, serveInspector } from '../../src/inspect/server/index.ts'

export interface Stage {
  /** A page that shows the inspector at this address. */
  open(url: string, options?: BrowserContextOptions): Promise<Page>
  serve(executor: StreamingToolExecutor | [], options?: InspectorOptions): Promise<InspectorServer>
  readonly browser: Browser
  /** The same content as `dist` in a release. */
  readonly dist: string
  /** For files of the tests; removed afterwards. */
  readonly folder: string
  /** Errors of all pages so far. */
  readonly complaints: string[]
}

/** One browser for all files of a worker: each page has a context of its own, and a start costs more than many a test. */
let started: Promise<Browser> | undefined

async function startBrowser(): Promise<Browser> {
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error('Chromium not found. Run: node scripts/ensure-programs.mjs')
  const running = await started?.catch(() => undefined)
  // one that crashed ends only the file in which it did
  if (running?.isConnected()) return running
  started = chromium.launch({ executablePath, args: chromiumArguments })
  return started
}

/**
 * The built app, a browser, and servers that are closed after each test. Pages keep still, because animations take
 * processor time where there is no graphics card; `live.test.ts` lets them move.
 */
export function useBrowser({ reducedMotion = 'reduce' }: Pick<BrowserContextOptions, 'reducedMotion'> = {}): Stage {
  let browser: Browser
  const dist = join(builtProject(), 'dist')
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-app-'))
  const open: { close(): Promise<void> }[] = []
  const complaints: string[] = []
  beforeAll(async () => {
    browser = await startBrowser()
  })
  afterEach(async () => {
    for (const each of open.splice(0).reverse()) await each.close()
    complaints.length = 0
  })
  afterAll(() => rmSync(folder, { recursive: true, force: true }))
  return {
    complaints,
    get browser() {
      return browser
    },
    dist,
    folder,
    async serve(executor, options) {
      const server = await serveInspector(executor, { appFolder: join(dist, 'inspector-app'), ...options })
      open.push(server)
      return server
    },
    async open(url, options = {}) {
      const page = await browser.newPage({ viewport: { width: 1440, height: 900 }, reducedMotion, ...options })
      open.push(page)
      // as long as vitest polls: other tests may take both cores
      page.setDefaultTimeout(60_000)
      page.setDefaultNavigationTimeout(120_000)
      page.on('pageerror', (error) => complaints.push(error.message))
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
      page.on('dialog', (dialog) => {
        complaints.push(`a dialog: ${dialog.message()}`)
        void dialog.dismiss()
      })
      await page.goto(url)
      return page
    },
  }
}

/** What axe finds in a part of the page; a list leads into shadow roots. */
export async function violations(
  page: Page,
  include: string | [string, string] = 'html',
  rules?: readonly string[],
): Promise<string[]> {
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(axe.source)
  return page.evaluate(
    async ([selector, runOnly]) => {
      const part = typeof selector === 'string' ? selector : { fromShadowDom: selector }
      const { run } = (globalThis as unknown as { axe: typeof axe }).axe
      const { violations: found } = await run({ include: part }, runOnly === undefined ? {} : { runOnly: [...runOnly] })
      return found.flatMap(({ id, nodes }) =>
        nodes.map(({ target, failureSummary }) => `${id} ${target}: ${failureSummary}`),
      )
    },
    [include, rules] as const,
  )
}

/** The same for a page that was opened in light: nothing but its colours is different in dark. */
export async function violationsInBothThemes(page: Page, include: string): Promise<string[]> {
  const inLight = await violations(page, include)
  await page.emulateMedia({ colorScheme: 'dark' })
  const inDark = await violations(page, include, ['color-contrast', 'link-in-text-block'])
  await page.emulateMedia({ colorScheme: 'light' })
  return [...inLight, ...inDark.map((each) => `in dark, ${each}`)]
}

/** The sizes and themes in which everybody must be able to use a page. */
export const looks = (['light', 'dark'] as const).flatMap((colorScheme) =>
  [
    { width: 1440, height: 900 },
    { width: 390, height: 844 },
  ].map((viewport) => ({ colorScheme, viewport })),
)

/** For pages made of the same parts as the inspector: each theme and each size once, all of them in the full run. */
export const someLooks =
  process.env.SIGNALBOX_FULL === undefined ? looks.filter((_, at) => at === 0 || at === 3) : looks

/** The scrubber, even in frames: its value is a position. */
export async function scrubByFrame(page: Page): Promise<Locator> {
  await page.getByLabel('Scale').selectOption('frames')
  // a focused control keeps its keys
  await page.getByLabel('Scale').blur()
  return page.locator('input[type=range]')
}

/** What the page shows as text, without times. */
export interface Shown {
  readonly queue: string[]
  readonly shared: string[]
  readonly exclusive: string[]
  readonly tiles: string[]
  readonly executor: string
  readonly call: string
}

export const shownOn = (page: Page): Promise<Shown> =>
  page.evaluate(() => {
    const texts = (selector: string) =>
      Array.from(document.querySelectorAll(selector), (element) => {
        const copy = element.cloneNode(true) as Element
        for (const time of copy.querySelectorAll('time')) time.remove()
        return (copy.textContent ?? '').trim().replace(/\s+/g, ' ')
      })
    const label = (selector: string) => document.querySelector(selector)?.getAttribute('aria-label') ?? ''
    return {
      queue: texts('.waiting'),
      shared: texts('.track.shared .wagon'),
      exclusive: texts('.track.exclusive .wagon'),
      tiles: Array.from(document.querySelectorAll('.tile'), (tile) => tile.getAttribute('aria-label') ?? ''),
      executor: label('.chart.executor svg[role=img]'),
      call: label('.chart.call svg[role=img]'),
    }
  })

/** The same, from the executor's own snapshot. */
export function shownBy(executor: StreamingToolExecutor): Pick<Shown, 'shared' | 'exclusive' | 'tiles' | 'executor'> {
  const snapshot = executor.actor.getSnapshot()
  const { calls } = snapshot.context.run
  const keysOf = (ref: unknown): string[] =>
    (ref as { getSnapshot(): { _nodes: { key: string; order: number; parent?: unknown }[] } })
      .getSnapshot()
      ._nodes.filter(({ parent }) => parent !== undefined)
      .sort((a, b) => a.order - b.order)
      .map(({ key }) => key)
  const wagon = (call: (typeof calls)[number]): string => {
    // the page does not show the usual place of a body
    const path = keysOf(call.ref).filter((key) => key !== 'here')
    return `${call.index + 1} ${call.name}${path.slice(1).join(' ▸ ')}`
  }
  const executing = calls.filter(({ stage }) => stage === 'executing')
  const words = { queued: 'waits', held: 'waits', completed: 'finished, held for order', withdrawn: 'stopped' }
  return {
    shared: executing.filter(({ isSafe }) => isSafe).map(wagon),
    exclusive: executing.filter(({ isSafe }) => !isSafe).map(wagon),
    tiles: calls.map(({ index, name, stage, isSafe }) => {
      const running = isSafe ? 'runs, shared' : 'runs alone'
      const word = stage === 'executing' ? running : stage === 'yielded' ? 'handed over' : words[stage]
      return `${index + 1} ${name}: ${word}`
    }),
    executor: `Executor, active: ${keysOf(executor.actor).join(', ')}`,
  }
}
