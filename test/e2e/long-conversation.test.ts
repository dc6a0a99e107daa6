import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { createRecorder, type Frame, frameLine } from '../../src/inspect/index.ts'
import { simulatedClock } from '../../src/testing/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush, takeAll, testTurn } from '../support/turn.ts'
import { useBrowser } from './support.ts'

const stage = useBrowser()
const turns = 120

/** Turns of two calls each, a second apart; in the third one a call fails. */
async function conversation(): Promise<Frame[]> {
  const frames: Frame[] = []
  const clock = simulatedClock()
  const recorder = createRecorder({ onFrame: (frame) => frames.push(frame), now: () => clock.now(), epoch: 0 })
  for (let turn = 1; turn <= turns; turn++) {
    const read = heldTool('Read', { safe: true })
    const { executor, add } = testTurn([read.tool], { clock })
    const { run, leave } = recorder.watch(executor, { title: `turn ${turn}` })
    recorder.say(run, 'model', `This is turn ${turn}.`)
    const ids = [`a${turn}`, `b${turn}`]
    for (const id of ids) add(id, 'Read', { file_path: `packages/of/a/large/repository/with/long/paths/${id}.ts` })
    clock.increment(1_000)
    for (const id of ids) {
      if (id === 'b3') read.run(id).fail(new Error('no such file'))
      else read.run(id).finish()
    }
    await flush()
    takeAll(executor)
    leave()
  }
  return frames
}

const fileWith = (name: string, lines: readonly string[]): string => {
  const path = join(stage.folder, name)
  writeFileSync(path, lines.join(''))
  return path
}

let lines: string[]
let recording: string
beforeAll(async () => {
  lines = (await conversation()).map(frameLine)
  recording = fileWith('long.jsonl', lines)
})

const texts = async (page: Page, selector: string): Promise<string[]> =>
  (await page.locator(selector).allTextContents()).map((text) => text.trim().replace(/\s+/g, ' '))

async function open(path = recording, options: Parameters<typeof stage.open>[1] = {}) {
  const server = await stage.serve([], { recording: path })
  const page = await stage.open(server.url, { reducedMotion: 'reduce', ...options })
  await page.locator('.conversation .line').first().waitFor()
  return { page, server }
}

const chosenLine = '.conversation .line.chosen'
const isInView = (page: Page, selector: string) =>
  page.locator(selector).evaluate((line) => {
    const [rail, { top, bottom }] = [line.closest('.turns')?.getBoundingClientRect(), line.getBoundingClientRect()]
    return rail !== undefined && top >= rail.top && bottom <= rail.bottom
  })

describe('a long conversation', () => {
  it('opens at its first failure, and the rail shows what is selected anywhere, with turns before and after it', async () => {
    const { page } = await open()
    await expect
      .poll(() => page.locator(chosenLine).getAttribute('aria-label'))
      .toMatch(/^#2 Read\(.*\/b3\.ts\) error$/)
    await expect.poll(() => isInView(page, chosenLine)).toBe(true)
    expect(await page.locator(chosenLine).getAttribute('aria-current')).toBe('true')
    await page.keyboard.press('Control+k')
    const field = page.getByLabel('Find a call, a text or a turn')
    await field.fill('a70.ts')
    await expect.poll(() => texts(page, '.finder .label')).toEqual([expect.stringContaining('/a70.ts')])
    await field.press('Enter')
    await expect.poll(() => page.locator(chosenLine).getAttribute('aria-label')).toContain('/a70.ts)')
    await expect.poll(() => isInView(page, chosenLine)).toBe(true)
    expect(await texts(page, '.turns > .link')).toEqual(['show 49 of 49 earlier turns', 'show 31 of 31 later turns'])
    await page.getByRole('button', { name: /later turns/ }).click()
    await page.getByRole('button', { name: /earlier turns/ }).click()
    await expect.poll(() => page.locator('.turn').count()).toBe(turns)
    // the time at the bottom is that of the conversation, whichever turn is shown
    expect((await texts(page, '.clock b'))[0]).toBe('2 min 0 s')
    expect(stage.complaints).toEqual([])
  })

  it('a selected part of the time leaves only its turns in the rail, and its events of every turn in the log', async () => {
    const { page } = await open()
    await page.getByRole('button', { name: 'all turns' }).click()
    const box = await page.locator('.timeline canvas').boundingBox()
    if (box === null) throw new Error('no timeline')
    const y = box.y + box.height / 2
    await page.mouse.move(box.x + box.width * 0.6, y)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.66, y, { steps: 4 })
    await page.mouse.up()
    await page.locator('.range-chip').waitFor()
    const numbers = async () => (await texts(page, '.turn h3 > button')).map((name) => Number(name.slice(5)))
    const [first = 0, ...rest] = await numbers()
    expect(first).toBeGreaterThan(20)
    expect(rest.length).toBeGreaterThan(1)
    expect(rest.length).toBeLessThan(20)
    await page.locator('#tab-log').click()
    await expect.poll(() => page.getByLabel('Log of').inputValue()).toBe('all')
    const shownTurns = async () => [
      ...new Set((await texts(page, '.log .row .who')).map((who) => Number(who.split(' ')[1]))),
    ]
    await expect.poll(async () => (await shownTurns()).length).toBeGreaterThan(1)
    for (const turn of await shownTurns()) expect([first, ...rest]).toContain(turn)
    await page.getByLabel('Search the log').fill(`a${rest[0]}`)
    await page.locator('.log .row.result button', { hasText: `a${rest[0]}` }).click()
    await expect.poll(() => page.locator(chosenLine).getAttribute('aria-label')).toContain(`/a${rest[0]}.ts)`)
    await page.getByLabel('Log of').selectOption('turn')
    await page.getByLabel('Search the log').fill('nowhere')
    await expect.poll(() => texts(page, '.log .empty')).toEqual(['Nothing found in this turn in the selected time.'])
    expect(stage.complaints).toEqual([])
  })

  it('the timeline of all turns shows the selected call, and a turn is not shown at the zoom of another one', async () => {
    const { page } = await open()
    const hintAt = async (x: number) => {
      const box = await page.locator('.timeline canvas').boundingBox()
      if (box === null) throw new Error('no timeline')
      await page.mouse.move(box.x + x * box.width, box.y + 34)
      return page.locator('.timeline .hint').textContent()
    }
    await page.locator('.conversation .line', { hasText: 'a3.ts' }).click()
    await page.getByRole('button', { name: 'Zoom in' }).click()
    await page.keyboard.press('Escape')
    await page.keyboard.press('Control+k')
    await page.getByLabel('Find a call, a text or a turn').fill('a90.ts')
    await page.keyboard.press('Enter')
    await expect.poll(() => page.locator(chosenLine).getAttribute('aria-label')).toContain('/a90.ts)')
    await expect.poll(() => page.getByRole('button', { name: 'Zoom out' }).isDisabled()).toBe(true)
    await expect.poll(() => hintAt(0.6)).toContain('a90.ts) · calling · 1.00 s')
    await expect.poll(() => hintAt(0.9999)).toContain('a90.ts) · handed over after 1.00 s')
  })
})

describe('a recording that is not whole', () => {
  it('shows what comes before a damaged line, and says which line it is', async () => {
    const { page } = await open(fileWith('damaged.jsonl', [...lines.slice(0, 200), '{"seq":\n', ...lines.slice(201)]))
    await expect
      .poll(() => texts(page, '.problem'))
      .toEqual(['Not a Signalbox recording: line 201: not JSON. The page shows what comes before it.'])
    expect(await page.locator('.turn').count()).toBeGreaterThan(2)
  })

  it('says how many frames are missing', async () => {
    const { page } = await open(fileWith('holed.jsonl', [...lines.slice(0, 200), ...lines.slice(203)]))
    await expect
      .poll(() => texts(page, '.kept'))
      .toEqual(['Missing: 3 frames. The page may show states that never were.'])
  })
})

describe('dialogs', () => {
  it.each([
    { width: 390, height: 844 },
    { width: 720, height: 450 },
  ])('are whole in view at $width × $height, also when the page is scrolled; the focus stays inside and returns', async (viewport) => {
    const { page } = await open(recording, { viewport })
    await page.evaluate(() => scrollTo(0, 500))
    const button = page.getByRole('button', { name: 'Keys and questions (?)' })
    for (const name of ['Keys', 'Find']) {
      await page.evaluate(() => scrollTo(0, 500))
      if (name === 'Keys') await button.focus()
      await page.keyboard.press(name === 'Keys' ? 'Enter' : 'Control+k')
      const box = await page.getByRole('dialog', { name }).boundingBox()
      expect(box?.y).toBeGreaterThanOrEqual(0)
      expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual(viewport.height)
      // behind the last element are the browser's own controls, and never the page
      const isBehind = () =>
        page.evaluate(() => {
          const { activeElement: element, body } = document
          return element !== body && element?.closest('dialog') === null
        })
      for (let at = 0; at < 4; at++) {
        expect(await isBehind()).toBe(false)
        await page.keyboard.press('Tab')
      }
      await page.keyboard.press('Escape')
      await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
      expect(await button.evaluate((element) => element === document.activeElement)).toBe(true)
    }
    await page.keyboard.press('Control+k')
    await page.getByRole('dialog').waitFor()
    await page.mouse.click(3, 3)
    await expect.poll(() => page.getByRole('dialog').count()).toBe(0)
    expect(stage.complaints).toEqual([])
  })
})

describe('an address that differs only after its #', () => {
  it('shows another moment, or connects with another token, in the same tab', async () => {
    const { page, server } = await open()
    await page.evaluate((url) => location.assign(url), `${server.url}&run=7&call=b7&tab=guards`)
    await expect.poll(() => page.locator(chosenLine).getAttribute('aria-label')).toContain('/b7.ts)')
    expect(await page.getByRole('tab', { selected: true }).textContent()).toContain('Guards')
    const wrong = await stage.open(server.url.replace(/token=.*/, 'token=of-yesterday'))
    await expect.poll(() => texts(wrong, '.source')).toEqual(['wrong token'])
    await wrong.evaluate((url) => location.assign(url), server.url)
    await expect.poll(() => texts(wrong, '.source')).toEqual(['recording'])
    await expect.poll(() => wrong.locator('.turn').count()).toBeGreaterThan(2)
  })
})
