import type { Page } from 'playwright-core'
import { describe, expect, it, onTestFinished } from 'vitest'
import { stagedConversation, stagedPrices } from '../../scripts/staged-conversation.mjs'
import { defineTool, query } from '../../src/index.ts'
import { scriptedModel } from '../../src/query/scripted/index.ts'
import { looks, useBrowser, violationsInBothThemes } from './support.ts'

const stage = useBrowser()
const tabs = ['story', 'log', 'guards', 'aborts', 'context', 'sequence', 'rules', 'whatIf', 'compare']

/** An agent of three turns that has a sub-agent, a retry, a hook and an open question. */
async function openAgent(options: Parameters<typeof stage.open>[1] = {}) {
  const server = await stage.serve([], { record: 'always', commands: true, prices: stagedPrices })
  const agent = await stagedConversation({ defineTool, query, scriptedModel }, server)
  onTestFinished(() => agent.stop())
  const page = await stage.open(server.url, options)
  await page.locator('.conversation .turn').nth(2).waitFor()
  return { page, agent }
}

const texts = async (page: Page, selector: string): Promise<string[]> =>
  (await page.locator(selector).allTextContents()).map((text) => text.trim().replace(/\s+/g, ' '))

describe('the conversation', () => {
  it('shows prompt, thinking, text, calls, agents, tokens and cost; what is selected in it is selected everywhere', async () => {
    const { page } = await openAgent()
    expect(await texts(page, '.said.user p')).toEqual([
      'The price of 5 dollars and 5 cents is wrong. Fix it.',
      'Find who calls price().',
    ])
    const costs = async () => (await texts(page, '.turn h3 .sum')).map((sum) => sum.replace(/^[\d.]+k tok · /, ''))
    await expect.poll(costs).toEqual(['$0.013', '$0.019', '$0.012'])
    expect(await texts(page, '.agent .line .label')).toEqual(['#1 Grep(cents)', '#2 Read(src/cart.js)'])
    expect((await texts(page, '.agent > .sum'))[0]).toMatch(
      /^agent · 2 turns · 2 calls · 11\.5k tok \(87\s% cached\) · \$0\.010/,
    )
    expect(await texts(page, '.turn > .items > li > .line .state')).toEqual([
      expect.stringMatching(/\d m?s$/),
      'error',
      expect.stringMatching(/\d m?s$/),
      expect.stringMatching(/\d m?s$/),
      expect.stringMatching(/retried 1×$/),
      expect.stringMatching(/\d m?s$/),
      'asks you',
      'waits for #2',
    ])
    await page.getByRole('button', { name: /thought/ }).click()
    expect(await texts(page, '.said.thought p')).toEqual([expect.stringContaining('The cents may be lost')])
    await page.locator('.agent .line').first().click()
    await expect.poll(() => texts(page, '.call-details h3')).toEqual(['#1 Grep(cents)'])
    expect(await page.locator('.top-bar select').inputValue()).toBe('2')
    expect(await page.locator('.chart.call').getAttribute('aria-label')).toContain('#1 Grep(cents)')
    await page.keyboard.press('c')
    await expect.poll(() => page.locator('.conversation').count()).toBe(0)
    expect(stage.complaints).toEqual([])
  })

  it('P5 P7 shows a call as evidence: decision, attempts, changed input, and exactly what the model got', async () => {
    const { page } = await openAgent()
    await page.locator('.conversation .line', { hasText: 'Bash(npm test)' }).click()
    const details = page.locator('.call-details')
    await expect.poll(() => details.textContent()).toContain('allowed by the rule Bash(NO_COLOR=1 npm test)')
    expect(await texts(page, '.attempts li')).toEqual([
      '1. failed Error: connect ECONNRESET 127.0.0.1:5432, again after 80 ms',
      '2. ok',
    ])
    expect(await texts(page, '.diff .removed')).toEqual(['- │ npm test'])
    expect(await texts(page, '.diff .added')).toEqual(['+ │ NO_COLOR=1 npm test'])
    expect(await page.locator('.got').first().textContent()).toBe(
      'checking the shop\n  ok    a price in dollars\n  ok    no dollars at all\nall is well',
    )
    expect(await texts(page, '.call-details .sentences span')).toContain(
      'Attempt 1 of #2 Bash(npm test) failed: Error: connect ECONNRESET 127.0.0.1:5432. Retried in 80 ms.',
    )
    await page.getByText('Raw JSON').click()
    expect(JSON.parse((await page.locator('.raw .got').textContent()) ?? '')).toMatchObject({ name: 'Bash' })
    await page.locator('#tab-story').click()
    await page.locator('.story select').selectOption('turn')
    await expect.poll(() => texts(page, '.story abbr')).toContain('P7')
    expect(stage.complaints).toEqual([])
  })

  it('P6 keeps questions on top: with the reason, in the title of the tab, while one looks at the past, and denied with a reason', async () => {
    const { page, agent } = await openAgent()
    await expect.poll(() => page.title()).toMatch(/^\(1\) /)
    expect(await texts(page, '.question .asks')).toEqual(['asks for permission, because of the rule Bash(git push)'])
    expect(await texts(page, '.question .input')).toEqual([
      expect.stringContaining('fix/price␣␣␣&& gh pr create --fill'),
    ])
    await page.keyboard.press('Home')
    await expect.poll(() => page.locator('.tile').count()).toBe(0)
    await page.getByLabel('Why you deny it').fill('not on a Friday')
    await page.getByRole('button', { name: 'Deny' }).click()
    await expect.poll(() => page.locator('.question').count()).toBe(0)
    await expect.poll(() => page.title()).not.toMatch(/^\(/)
    await page.keyboard.press('End')
    await page.locator('.conversation .line', { hasText: 'git push' }).click()
    await expect.poll(() => texts(page, '.got')).toEqual([expect.stringContaining('not on a Friday')])
    expect(agent.run.executor.openQuestions()).toEqual([])
  })
})

describe('the arrangement', () => {
  const boxOf = async (page: Page, selector: string) => {
    const box = await page.locator(selector).boundingBox()
    if (box === null) throw new Error(`${selector} is not shown`)
    return { left: box.x, top: box.y, right: box.x + box.width, bottom: box.y + box.height }
  }

  it.each([
    { width: 1440, height: 900 },
    { width: 1920, height: 1080 },
  ])('shows conversation, timeline, charts, call and story together at $width × $height', async (viewport) => {
    const { page } = await openAgent({ viewport })
    await page.locator('.call-panel').waitFor()
    // a question that comes while the parts are measured moves them
    await page.locator('.inbox').waitFor()
    const [question, rail, lanes, timeline, executor, chart, call, tabs, time] = await Promise.all(
      ['.inbox', '.conversation', '.lanes', '.timeline', '.chart.executor', '.chart.call', '.call-panel', '.details']
        .map((selector) => boxOf(page, selector))
        .concat(boxOf(page, '.scrubber')),
    )
    // questions on top, then from left to right, time at the bottom, nothing below the window
    for (const part of [rail, lanes, timeline, executor, chart, call, tabs]) {
      expect(part?.top).toBeGreaterThanOrEqual(question?.bottom ?? 0)
      expect(part?.bottom).toBeLessThanOrEqual(time?.top ?? 0)
      expect(part?.right).toBeLessThanOrEqual(viewport.width)
    }
    expect(time?.bottom).toBeLessThanOrEqual(viewport.height)
    for (const part of [lanes, timeline, executor, chart]) {
      expect(part?.left).toBeGreaterThanOrEqual(rail?.right ?? 0)
      expect(part?.right).toBeLessThanOrEqual(call?.left ?? 0)
    }
    expect(timeline?.top).toBeGreaterThanOrEqual(lanes?.bottom ?? 0)
    expect(chart?.top).toBeGreaterThanOrEqual(timeline?.bottom ?? 0)
    expect(tabs?.top).toBeGreaterThanOrEqual(call?.bottom ?? 0)
    // the call has no tab then, and selecting one leaves the tab as it is
    expect(await page.locator('#tab-call').count()).toBe(0)
    await page.locator('#tab-log').click()
    await page.locator('.conversation .line', { hasText: 'Bash(npm test)' }).click()
    await expect.poll(() => texts(page, '.call-panel h3')).toEqual(['#2 Bash(npm test)'])
    expect(await page.getByRole('tab', { selected: true }).textContent()).toBe('Log')
    // on a small page, the call is a tab
    await page.setViewportSize({ width: 1024, height: 700 })
    await expect.poll(() => page.locator('.call-panel').count()).toBe(0)
    await page.locator('.conversation .line', { hasText: 'Edit' }).click()
    await expect.poll(() => page.getByRole('tab', { selected: true }).textContent()).toBe('Call')
    await page.setViewportSize(viewport)
    await expect.poll(() => texts(page, '.call-panel h3')).toEqual(['#1 Edit(src/price.js)'])
    expect(await page.getByRole('tab', { selected: true }).textContent()).toBe('Story')
    expect(stage.complaints).toEqual([])
  })
})

describe('finding things', () => {
  it('finds by text, tool and outcome in every turn, and leads there by keys and by link', async () => {
    const { page } = await openAgent()
    await page.keyboard.press('Control+k')
    const field = page.getByLabel('Find a call, a text or a turn')
    await field.fill('unclosed group')
    await expect
      .poll(() => texts(page, '.finder .label'))
      .toEqual([expect.stringMatching(/^#2 Grep\(price\(\) .*unclosed group/)])
    await field.press('Enter')
    await expect.poll(() => texts(page, '.call-details h3')).toEqual(['#2 Grep(price()'])
    await page.keyboard.press('Control+k')
    await page.getByLabel('Outcome', { exact: true }).selectOption('retried')
    await expect.poll(() => texts(page, '.finder .label')).toEqual(['#2 Bash(npm test)'])
    await page.getByLabel('Outcome', { exact: true }).selectOption('any')
    await page.getByLabel('Agent', { exact: true }).selectOption('agents')
    await page.getByLabel('Tool', { exact: true }).selectOption('Grep')
    await expect.poll(() => texts(page, '.finder .label')).toEqual(['#1 Grep(cents)'])
    await page.keyboard.press('Escape')
    await expect.poll(() => page.locator('.dialog').count()).toBe(0)
    await page.keyboard.press('?')
    await expect.poll(() => page.getByRole('dialog', { name: 'Keys' }).count()).toBe(1)
    await page.keyboard.press('Escape')
    const token = new URL(page.url()).hash
    const linked = await stage.open(`${new URL(page.url()).origin}/${token}&run=2&call=toolu_4&tab=call`)
    await expect.poll(() => texts(linked, '.call-details h3 .number')).not.toEqual([])
    expect(await linked.locator('.top-bar select').inputValue()).toBe('2')
    expect(stage.complaints).toEqual([])
  })
})

describe('everybody can use it', () => {
  it.each(
    looks.filter(({ colorScheme }) => colorScheme === 'light'),
  )('axe finds nothing in any view of either theme, $viewport.width pixels wide', async (look) => {
    const { page } = await openAgent(look)
    await page.locator('.chart.call .edge').first().waitFor()
    expect(await page.locator('.question').count()).toBe(1)
    await page.locator('.conversation .line', { hasText: 'Bash(npm test)' }).click()
    const found = await violationsInBothThemes(page, '.inspector')
    for (const tab of tabs) {
      await page.locator(`#tab-${tab}`).click()
      found.push(...(await violationsInBothThemes(page, '.details')).map((each) => `${tab}: ${each}`))
    }
    for (const [name, open, close] of [
      ['totals', () => page.getByRole('button', { name: 'totals' }).click(), undefined],
      ['all turns', () => page.getByRole('button', { name: 'all turns' }).click(), undefined],
      ['help', () => page.keyboard.press('?'), 'Escape'],
      ['finder', () => page.keyboard.press('Control+k'), 'Escape'],
      ['states', () => page.getByRole('button', { name: 'Calls by state of the chart call' }).click(), undefined],
      [
        'full screen',
        () =>
          page
            .locator('.chart.call')
            .getByRole('button', { name: /full screen/i })
            .click(),
        'Escape',
      ],
    ] as const) {
      await open()
      found.push(...(await violationsInBothThemes(page, '.inspector')).map((each) => `${name}: ${each}`))
      if (close !== undefined) await page.keyboard.press(close)
    }
    await page.locator('#tab-whatIf').click()
    await page.getByRole('button', { name: 'This turn, call by call' }).click()
    found.push(...(await violationsInBothThemes(page, '.details')).map((each) => `what if, one turn: ${each}`))
    // on a small page, the call is a tab
    await page.setViewportSize({ width: 1024, height: 700 })
    await page.locator('#tab-call').click()
    found.push(...(await violationsInBothThemes(page, '.inspector')).map((each) => `small: ${each}`))
    await page.setViewportSize(look.viewport)
    // a moment of the past
    await page.locator('#tab-log').click()
    await page.locator('.log .row button').first().click()
    found.push(...(await violationsInBothThemes(page, '.inspector')))
    expect(found).toEqual([])
  })

  it('what is typed quickly after a slash is searched, and fires no shortcut', async () => {
    const { page } = await openAgent()
    await page.locator('.turns').focus()
    await page.evaluate(() => {
      for (const key of ['/', 'j', '3', 'l']) {
        document.activeElement?.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }))
      }
    })
    await expect.poll(() => page.locator('#search').inputValue()).toBe('j3l')
    expect(await page.getByRole('tab', { selected: true }).textContent()).toBe('Log')
  })
})
