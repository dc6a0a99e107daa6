import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { stagedConversation, stagedPrices } from '../../scripts/staged-conversation.mjs'
import { defineTool, query } from '../../src/index.ts'
import { scriptedModel } from '../../src/query/scripted/index.ts'
import { useBrowser } from './support.ts'

const stage = useBrowser()

const texts = async (page: Page, selector: string): Promise<string[]> =>
  (await page.locator(selector).allTextContents()).map((text) => text.trim().replace(/\s+/g, ' '))

describe('the timeline', () => {
  it('filters every list by a selected range, zooms to it, and adds up phases, tools and models', async () => {
    const server = await stage.serve([], { record: 'always', commands: true, prices: stagedPrices })
    const agent = await stagedConversation({ defineTool, query, scriptedModel }, server)
    onTestFinished(() => agent.stop())
    const page = await stage.open(server.url)
    await page.locator('.conversation .turn').nth(2).waitFor()
    expect(await texts(page, '.timeline .legend li')).toEqual([
      ...['queued', 'shared', 'exclusive', 'asks, sent', 'held', 'ok', 'error', 'stopped'],
    ])
    await page.getByRole('button', { name: 'all turns' }).click()
    const lines = () => texts(page, '.turn > .items > li > .line .label')
    expect(await lines()).toHaveLength(8)
    // the last part of the time: a person is asked, the first two turns are over
    const box = await page.locator('.plot canvas').boundingBox()
    if (box === null) throw new Error('no timeline')
    const [right, y] = [box.x + box.width - 20, box.y + box.height - 8]
    await page.mouse.move(right, y)
    await page.mouse.down()
    await page.mouse.move(right - 60, y, { steps: 4 })
    await page.mouse.up()
    await expect.poll(lines).toEqual([expect.stringContaining('git push'), expect.stringContaining('Write')])
    expect(await texts(page, '.range-chip')).toEqual([expect.stringMatching(/ – .* selected$/)])
    await page.locator('.story select').selectOption('all')
    expect(await texts(page, '.story .sentences li')).toEqual([])
    await page.locator('#tab-log').click()
    await expect.poll(() => texts(page, '.log output')).toEqual(['0'])
    await page.locator('#tab-guards').click()
    await expect.poll(() => page.locator('.refusals li').count()).toBe(0)
    await page.getByRole('button', { name: 'totals' }).click()
    await expect
      .poll(() => texts(page, '.totals table:first-child tbody th').then((names) => names.sort()))
      .toEqual(['asking', 'queued'])
    await page.getByRole('button', { name: 'Clear the selected time' }).click()
    await expect.poll(async () => (await lines()).length).toBe(8)
    // of every turn
    const refused = () => texts(page, '.refusals ol > li > div > .link:first-child')
    await expect.poll(refused).toContainEqual(expect.stringContaining('Write'))
    expect(await refused()).toContainEqual(expect.stringContaining('npm test'))
    const tools = await texts(page, '.totals table:nth-child(2) tbody tr')
    expect(tools.find((row) => row.startsWith('Grep'))).toMatch(/^Grep2.*1$/)
    expect(await texts(page, '.totals table:nth-child(3) tbody tr')).toEqual([
      expect.stringMatching(/^scripted5.*\$0\.054$/),
    ])
    await page.getByRole('button', { name: 'totals' }).click()
    await page.getByRole('button', { name: 'critical path' }).click()
    await expect.poll(async () => (await texts(page, '.timeline .legend li')).at(-1)).toBe('critical path')
    // by keyboard: from the moment shown
    await page.keyboard.press('Home')
    await page.keyboard.press(']')
    await expect.poll(() => page.locator('.range-chip').count()).toBe(1)
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('.range-chip').count()).toBe(0)
    expect(stage.complaints).toEqual([])
  })

  it('follows the theme of the page and the scheme of the system at once, although it keeps its colours', async () => {
    const server = await stage.serve([], { record: 'always', prices: stagedPrices })
    const agent = await stagedConversation({ defineTool, query, scriptedModel }, server)
    await agent.stop()
    const page = await stage.open(server.url, { colorScheme: 'light' })
    await page.locator('.conversation .turn').nth(2).waitFor()
    // nothing moves at a moment of the past: only the change of the scheme draws
    await page.keyboard.press('ArrowLeft')
    const drawn = () =>
      page.locator('.plot canvas').evaluate((canvas: HTMLCanvasElement) => {
        const { data } = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height) ?? { data: [] }
        let sum = 0
        for (let at = 0; at < data.length; at++) sum = (sum * 31 + (data[at] as number)) % 1_000_003
        return sum
      })
    await expect.poll(() => page.locator('.follow.on').count()).toBe(0)
    const light = await drawn()
    await page.emulateMedia({ colorScheme: 'dark', reducedMotion: 'reduce' })
    await expect.poll(drawn).not.toBe(light)
    await page.getByRole('button', { name: /theme/i }).click()
    await expect.poll(drawn).toBe(light)
  })
})
