import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import { stagedConversation, stagedPrices } from '../../scripts/staged-conversation.mjs'
import { defineTool, query } from '../../src/index.ts'
import { scriptedModel } from '../../src/query/scripted/index.ts'
import { flush, testTurn } from '../support/turn.ts'
import { scrubByFrame, useBrowser } from './support.ts'

const stage = useBrowser()

async function openAgent(options: Parameters<typeof stage.open>[1] = {}) {
  const server = await stage.serve([], { record: 'always', commands: true, prices: stagedPrices })
  const agent = await stagedConversation({ defineTool, query, scriptedModel }, server)
  onTestFinished(() => agent.stop())
  const page = await stage.open(server.url, options)
  await drawn(page, '.chart.call')
  await drawn(page, '.chart.executor')
  return page
}

/** The chart has its edges, and no better layout of it is computed. */
async function drawn(page: Page, chart: string): Promise<void> {
  await page.locator(`${chart} .edge`).first().waitFor()
  await page.locator(`${chart}[aria-busy=false]`).waitFor()
}

const texts = async (page: Page, selector: string): Promise<string[]> =>
  (await page.locator(selector).allTextContents()).map((text) => text.trim().replace(/\s+/g, ' '))

/** Labels of edges that cover a state, as the browser draws them. */
const covered = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const boxesOf = (root: Element, selector: string) =>
      Array.from(root.querySelectorAll(selector), (each) => ({
        name: each.parentElement?.textContent ?? '',
        box: each.getBoundingClientRect(),
      }))
    return Array.from(document.querySelectorAll('.panel.chart'), (panel) => {
      const states = boxesOf(panel, '.state.leaf > rect:first-child')
      return boxesOf(panel, '.edge-name rect, .edge-label rect, .edge-refusal rect').flatMap((label) =>
        states
          .filter(
            ({ box }) =>
              label.box.left < box.right &&
              box.left < label.box.right &&
              label.box.top < box.bottom &&
              box.top < label.box.bottom,
          )
          .map(({ name }) => `${label.name} over ${name}`),
      )
    }).flat()
  })

/** The height of the smallest state name, in pixels. */
const smallestName = (page: Page, chart: string): Promise<number> =>
  page
    .locator(`.chart.${chart} .state.leaf > text`)
    .evaluateAll((all) => Math.min(...all.map((each) => each.getBoundingClientRect().height)))

/** The smallest font size of a state's name, as drawn, in pixels. */
const smallestLetters = (page: Page, chart: string): Promise<number> =>
  page
    .locator(`.chart.${chart} .state > text`)
    .evaluateAll((all) =>
      Math.min(
        ...all.map(
          (each) =>
            Number.parseFloat(getComputedStyle(each).fontSize) * ((each as SVGTextElement).getScreenCTM()?.a ?? 0),
        ),
      ),
    )

/** The smallest font size of a label of an edge, as drawn, in pixels. */
const smallestLabel = (page: Page): Promise<number> =>
  page
    .locator('.panel.chart :is(.edge-name, .edge-label, .edge-refusal) text')
    .evaluateAll((all) =>
      Math.min(
        ...all.map(
          (each) =>
            Number.parseFloat(getComputedStyle(each).fontSize) * ((each as SVGTextElement).getScreenCTM()?.a ?? 0),
        ),
      ),
    )

/** The states and groups of a chart that are cut off at a side of its panel. */
const cutOff = (page: Page, chart: string): Promise<string[]> =>
  page.locator(`.chart.${chart} .state > rect:first-child`).evaluateAll((all) =>
    all.flatMap((each) => {
      const view = each.closest('svg')?.getBoundingClientRect() as DOMRect
      const { left, right } = each.getBoundingClientRect()
      const isIn = left >= view.left && right <= view.right
      return isIn ? [] : [each.parentElement?.getAttribute('data-state') ?? '']
    }),
  )

/** Whether each innermost active state is in view. */
const activeInView = (page: Page, chart: string): Promise<boolean[]> =>
  page.locator(`.chart.${chart} .state.leaf.active > rect:first-child`).evaluateAll((all) =>
    all.slice(-1).map((each) => {
      const view = each.closest('svg')?.getBoundingClientRect() as DOMRect
      const { left, right, top, bottom } = each.getBoundingClientRect()
      return left >= view.left - 1 && right <= view.right + 1 && top >= view.top - 1 && bottom <= view.bottom + 1
    }),
  )

describe('guards', () => {
  it('lists each refusal with call, reason, blockers and key, and draws the refused edge on the chart', async () => {
    const tool = (name: string, resources: (input: { file?: string }) => { reads?: string[]; writes?: string[] }) =>
      defineTool({
        name,
        inputSchema: z.object({ file: z.string().optional() }),
        isConcurrencySafe: () => true,
        resources,
        call: () => new Promise(() => undefined),
      })
    const { executor, add } = testTurn([
      tool('Edit', ({ file }) => ({ writes: [`file:${file}`] })),
      tool('Look', ({ file }) => ({ reads: [`file:${file}`] })),
    ])
    const server = await stage.serve(executor, { record: 'always' })
    const page = await stage.open(server.url)
    add('a', 'Edit', { file: 'a.ts' })
    add('b', 'Look', { file: 'a.ts' })
    await flush()
    await page.locator('.chart.executor .edge').first().waitFor()
    await page.locator('#tab-guards').click()
    const refusal = page.locator('.refusals li').first()
    await expect.poll(() => refusal.locator('.moment + div > .link').textContent()).toBe('#2 Look')
    expect((await refusal.textContent())?.replace(/\s+/g, ' ')).toContain('waits for #1 Edit, which uses file:a.ts')
    expect(await texts(page, '.refusals li:first-child dt')).toEqual(['rule', 'guard', 'blocked by', 'resource'])
    const [rule, guard, blockers, key] = await texts(page, '.refusals li:first-child dd')
    expect([rule, blockers, key]).toEqual(['resource', '#1 Edit', 'file:a.ts'])
    expect(guard).toContain('nothingExecutes: shared → open')
    const refused = page.locator('.chart.executor .refused')
    await expect.poll(() => refused.count()).toBeGreaterThan(0)
    expect(await texts(page, '.chart.executor .edge-refusal')).toContain('nothingExecutes: no')
    await refusal.locator('.blockers .link').click()
    expect(await page.locator('.chart.call').getAttribute('aria-label')).toContain('#1 Edit')
    expect(stage.complaints).toEqual([])
  })

  it('goes to the moment of a refusal: the edge that was refused then is drawn', async () => {
    const page = await openAgent()
    await page.locator('#tab-guards').click()
    // one of the turn before, and two of this one
    await expect.poll(() => page.locator('.refusals li').count()).toBe(3)
    expect(await texts(page, '#tab-guards em')).toEqual(['3'])
    // now #3 is refused by the gate in `exclusive`; when the turn began, #2 was refused by the gate in `shared`
    const dashed = () =>
      page.locator('.chart.executor .refused').evaluateAll((all) => all.map((each) => each.getAttribute('data-edge')))
    const now = await dashed()
    expect(now).toHaveLength(1)
    await page.locator('.refusals .moment').nth(1).click()
    await expect.poll(dashed).not.toEqual(now)
    expect(await dashed()).not.toEqual([])
    expect(await texts(page, '.refusals li')).toHaveLength(2)
  })
})

describe('charts', () => {
  it.each([
    { width: 1440, height: 900 },
    { width: 1920, height: 1080 },
    { width: 1024, height: 700 },
    { width: 390, height: 844 },
  ])('no label covers a state at $width × $height, in any chart, in its panel and in full screen', async (viewport) => {
    const page = await openAgent({ viewport })
    expect(await covered(page)).toEqual([])
    await page.getByRole('button', { name: 'show the query' }).click()
    await drawn(page, '.chart.executor.of-query')
    expect(await page.locator('.chart.of-query .edge').count()).toBeGreaterThan(20)
    expect(await covered(page)).toEqual([])
    await page.locator('.chart.executor .widen').click()
    await expect
      .poll(() => page.locator('.chart.full').evaluate((each) => each.getBoundingClientRect().toJSON()))
      .toMatchObject({ x: 0, y: 0, ...viewport })
    await drawn(page, '.chart.full')
    expect(await page.locator('.chart.full .edge').count()).toBeGreaterThan(20)
    expect(await covered(page)).toEqual([])
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('.chart.full').count()).toBe(0)
    expect(stage.complaints).toEqual([])
  })

  it('are laid out for the shape of their panel: readable, with labels where there is room', async () => {
    const page = await openAgent()
    await expect.poll(() => smallestName(page, 'executor')).toBeGreaterThan(11)
    await page.getByRole('button', { name: 'show the query' }).click()
    await drawn(page, '.chart.of-query')
    expect(await page.locator('.chart.of-query').getAttribute('data-readable')).toBe('true')
    expect(await smallestName(page, 'executor')).toBeGreaterThan(12)
    const panelled = await page.locator('.chart.executor .edge-name').count()
    await page.locator('.chart.executor .widen').click()
    await expect.poll(() => smallestName(page, 'executor')).toBeGreaterThan(14)
    await expect.poll(() => page.locator('.chart.executor .edge-name').count()).toBeGreaterThan(panelled + 10)
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'show the executor' }).click()
    await page.locator('.chart.call .widen').click()
    await expect.poll(() => smallestName(page, 'call')).toBeGreaterThan(13)
    await expect.poll(() => page.locator('.chart.call .edge-name').count()).toBeGreaterThan(5)
  })

  it.each([
    { width: 1440, height: 900 },
    { width: 1920, height: 1080 },
    { width: 1024, height: 700 },
    { width: 390, height: 844 },
  ])('have names of at least 11 pixels at $width × $height, with the active state in view', async (viewport) => {
    const page = await openAgent({ viewport })
    for (const chart of ['executor', 'call']) {
      expect(await smallestLetters(page, chart)).toBeGreaterThanOrEqual(11)
      expect(await activeInView(page, chart)).toEqual([true])
    }
    expect(await cutOff(page, 'executor')).toEqual([])
    // the refusal of #3, whose label must be read too
    expect(await texts(page, '.chart.executor .edge-refusal')).toEqual(['nothingExecutes: no'])
    expect(await smallestLabel(page)).toBeGreaterThanOrEqual(11)
    await page.getByRole('button', { name: 'show the query' }).click()
    await drawn(page, '.chart.of-query')
    expect(await smallestLetters(page, 'executor')).toBeGreaterThanOrEqual(11)
  })

  it('follow the active state through the whole recording', async () => {
    const page = await openAgent()
    await page.getByRole('button', { name: 'show the query' }).click()
    await drawn(page, '.chart.of-query')
    const moments = await scrubByFrame(page)
    const last = Number(await moments.getAttribute('max'))
    for (let at = 0; at <= last; at += Math.ceil(last / 12)) {
      await moments.fill(String(at))
      for (const chart of ['executor', 'call']) {
        await expect.poll(() => activeInView(page, chart)).not.toContain(false)
      }
    }
  })

  it('show all of a chart that does not fit, on demand', async () => {
    const page = await openAgent()
    const whole = page.getByRole('button', { name: 'The whole chart call' })
    const hidden = () =>
      page.locator('.chart.call .state.leaf').evaluateAll((all) => {
        const view = all[0]?.closest('svg')?.getBoundingClientRect() as DOMRect
        return all.filter((each) => {
          const { left, right, top, bottom } = each.getBoundingClientRect()
          return left < view.left || right > view.right || top < view.top || bottom > view.bottom
        }).length
      })
    expect(await hidden()).toBeGreaterThan(0)
    await whole.click()
    await expect.poll(hidden).toBe(0)
    await whole.click()
    await expect.poll(hidden).toBeGreaterThan(0)
    expect(stage.complaints).toEqual([])
  })

  it('shows which calls are in a state, by a click on it and by keyboard; empty lanes are collapsed', async () => {
    const page = await openAgent()
    expect(await texts(page, '.chart.call .in-it')).toEqual(['1', '1', '1'])
    await page.getByRole('button', { name: 'The whole chart call' }).click()
    await page.locator('.chart.call [data-state=queued] > text').click()
    const list = page.getByRole('region', { name: 'Calls in a state' })
    await expect.poll(() => list.locator('li .link').allTextContents()).toEqual(['#3 Write(CHANGELOG.md)'])
    await list.locator('li .link').click()
    await expect.poll(() => page.locator('.chart.call').getAttribute('aria-label')).toContain('#3 Write')
    await list.getByLabel('State').selectOption({ label: 'asking (1)' })
    await expect.poll(() => list.locator('li .link').allTextContents()).toEqual([expect.stringContaining('#2 Bash')])
    await list.getByRole('button', { name: 'Close the list' }).click()
    await page.getByRole('button', { name: 'Calls by state of the chart executor' }).click()
    await expect.poll(() => list.count()).toBe(1)
    await list.getByLabel('State').selectOption('exclusive')
    await expect.poll(() => list.textContent()).toMatch(/Active now\. One call is here:#2 Bash/)
    const heightOf = (lane: string) =>
      page.locator(`.track.${lane}`).evaluate((each) => each.getBoundingClientRect().height)
    expect(await heightOf('shared')).toBeLessThan(40)
    expect(await heightOf('exclusive')).toBeGreaterThan(60)
    // a turn that is over has no lanes to show
    const lanes = () => page.locator('.lanes').evaluate((each) => each.getBoundingClientRect().height)
    const before = await lanes()
    await page.locator('.top-bar select').selectOption({ label: 'turn 1' })
    await expect.poll(lanes).toBeLessThan(before - 20)
    expect(stage.complaints).toEqual([])
  })
})
