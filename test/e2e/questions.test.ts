import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { stagedPrices } from '../../scripts/staged-conversation.mjs'
import { defineTool, query } from '../../src/index.ts'
import { scriptedModel } from '../../src/query/scripted/index.ts'
import { useBrowser } from './support.ts'

const stage = useBrowser()
const long = Array.from({ length: 400 }, (_, line) => `line ${line} of the log`).join('\n')
const usage = (input: number, output: number) => ({ input_tokens: input, output_tokens: output })

/** Two turns: a call that waits, one that fails and cancels others, rules, an agent, and a long result. */
async function recordConversation(): Promise<string> {
  const server = await stage.serve([], { record: 'always', prices: stagedPrices })
  const inputSchema = z.looseObject({})
  const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))
  const read = defineTool({
    name: 'Read',
    inputSchema,
    isConcurrencySafe: () => true,
    describe: ({ path }) => String(path),
    call: async () => pause(30).then(() => ({ data: long })),
  })
  const write = defineTool({
    name: 'Write',
    inputSchema,
    describe: ({ path }) => String(path),
    call: async () => ({ data: 'written' }),
  })
  const bash = defineTool({
    name: 'Bash',
    inputSchema,
    isConcurrencySafe: () => true,
    cancelsSiblingsOnError: true,
    matchesRule: (spec, { command }) => String(command).startsWith(spec),
    describe: ({ command }) => String(command),
    call: async ({ command }, { abortController: { signal } }) => {
      await (command === 'sleep' ? new Promise((resolve) => signal.addEventListener('abort', resolve)) : pause(30))
      if (command === 'sleep') throw signal.reason
      throw new Error('exit code 1')
    },
  })
  const agent = defineTool({
    name: 'Agent',
    inputSchema,
    isConcurrencySafe: () => true,
    describe: () => 'count the files',
    async call(_input, { toolUseID }) {
      const model = scriptedModel([['There are 7 files.', { stop: 'end_turn', usage: usage(10_000, 400) }]])
      const inner = query({ messages: 'Count the files.', tools: [read], model })
      const leave = server.add(inner, { title: 'Agent, turn', parentToolUseID: toolUseID as string })
      for await (const _ of inner);
      leave()
      return { data: '7' }
    },
  })
  const run = query({
    messages: 'Check everything.',
    tools: [read, write, bash, agent],
    model: scriptedModel([
      [
        { call: 'Read', input: { path: 'app.log' } },
        { call: 'Agent', input: {} },
        { call: 'Write', input: { path: 'notes.md' } },
        { stop: 'tool_use', usage: usage(2_000, 100) },
      ],
      [
        { call: 'Bash', input: { command: 'npm test' } },
        { call: 'Bash', input: { command: 'sleep' } },
        { stop: 'tool_use', usage: usage(3_000, 100) },
      ],
      ['Done.', { stop: 'end_turn', usage: usage(3_500, 50) }],
    ]),
    context: { permissions: { mode: 'default', allow: ['Read', 'Write', 'Agent', 'Bash(npm)'] } },
    canUseTool: () => ({ behavior: 'allow' }),
  })
  server.add(run)
  for await (const _ of run);
  const page = await stage.open(server.url)
  await page.locator('.conversation .turn').nth(2).waitFor()
  const [download] = await Promise.all([
    page.waitForEvent('download'),
    page.getByRole('button', { name: 'Save as a recording' }).click(),
  ])
  const path = join(stage.folder, 'questions.jsonl')
  await download.saveAs(path)
  return path
}

let recording: string
beforeAll(async () => {
  recording = await recordConversation()
})

const texts = async (page: Page, selector: string): Promise<string[]> =>
  (await page.locator(selector).allTextContents()).map((text) => text.trim().replace(/\s+/g, ' '))

/** The recording, just opened, and how often something was pressed since. */
async function openRecording(): Promise<{ page: Page; presses: () => Promise<number> }> {
  const page = await stage.open((await stage.serve([], { recording })).url)
  await page.locator('.conversation .turn').nth(2).waitFor()
  await expect.poll(() => texts(page, '.source')).toEqual(['recording'])
  await page.evaluate(() => {
    Object.assign(globalThis, { presses: 0 })
    addEventListener('pointerdown', () => void (globalThis as unknown as { presses: number }).presses++, true)
  })
  return { page, presses: () => page.evaluate(() => (globalThis as unknown as { presses: number }).presses) }
}

const line = (page: Page, label: string) => page.locator('.conversation .line', { hasText: label })

describe('eight questions about a recording, each in at most two clicks', () => {
  it('Q4 why does this call wait?', async () => {
    const { page, presses } = await openRecording()
    await line(page, 'Write(notes.md)').click()
    await expect
      .poll(() => texts(page, '.waited li'))
      .toContainEqual(expect.stringMatching(/ms: must run alone, waits for #1 Read.*waitsForRunning/))
    expect(await presses()).toBeLessThanOrEqual(2)
  })

  it('A2 who cancelled whom?', async () => {
    const { page, presses } = await openRecording()
    await page.getByRole('tab', { name: 'Aborts' }).click()
    await expect.poll(() => texts(page, '.abort .source .name')).toEqual(['Bash(npm test)'])
    expect(await texts(page, '.abort .reason .link')).toEqual(['sibling_error'])
    expect(await texts(page, '.abort > ul > li .link')).toEqual(['#2 Bash(sleep)'])
    expect(await presses()).toBeLessThanOrEqual(2)
  })

  it('Q1 which guard said no, and why?', async () => {
    const { page, presses } = await openRecording()
    await page.getByRole('tab', { name: 'Guards' }).click()
    await expect.poll(() => page.locator('.refusals li').count()).toBeGreaterThan(0)
    const refusal = (await texts(page, '.refusals li')).find((text) => text.includes('Write(notes.md)'))
    expect(refusal).toMatch(/must run alone.*waitsForRunning.*canExecuteTool/)
    expect(refusal).toMatch(/blocked by.*Read\(app\.log\)/)
    expect(await presses()).toBeLessThanOrEqual(2)
  })

  it('P5 which rule decided?', async () => {
    const { page, presses } = await openRecording()
    await line(page, 'Bash(npm test)').click()
    await expect.poll(() => texts(page, '.call-details dd')).toContain('allowed by the rule Bash(npm)')
    expect(await presses()).toBeLessThanOrEqual(2)
  })

  it('where did the time of this run go?', async () => {
    const { page, presses } = await openRecording()
    await page.getByRole('button', { name: 'all turns' }).click()
    await page.getByRole('button', { name: 'totals' }).click()
    await expect.poll(() => texts(page, '.totals table:nth-child(1) tbody th')).toContain('calling')
    expect((await texts(page, '.totals table:nth-child(2) tbody th')).sort()).toEqual([
      'Agent',
      'Bash',
      'Read',
      'Write',
    ])
    expect(await presses()).toBeLessThanOrEqual(2)
  })

  it('Y5 what did the model get back, exactly?', async () => {
    const { page, presses } = await openRecording()
    await line(page, 'Read(app.log)').click()
    await page.getByRole('button', { name: 'expand' }).click()
    await expect.poll(() => page.locator('.got').first().textContent()).toBe(long)
    expect(await presses()).toBeLessThanOrEqual(2)
  })

  it('what did this agent cost?', async () => {
    const { page, presses } = await openRecording()
    await line(page, 'Agent(count the files)').click()
    // 10,000 × $3 and 400 × $15 per million
    await expect
      .poll(() => texts(page, '.agent-cost'))
      .toEqual([expect.stringMatching(/^one turn · 0 calls · 10\.4k tok · \$0\.036/)])
    expect(await presses()).toBeLessThanOrEqual(2)
  })

  it('what happened between two moments?', async () => {
    const { page, presses } = await openRecording()
    const all = (await texts(page, '.story .sentences li')).length
    const box = await page.locator('.plot canvas').boundingBox()
    if (box === null) throw new Error('no timeline')
    await page.mouse.move(box.x + box.width - 4, box.y + box.height - 8)
    await page.mouse.down()
    await page.mouse.move(box.x + box.width * 0.7, box.y + box.height - 8, { steps: 4 })
    await page.mouse.up()
    await expect
      .poll(() => texts(page, '.in-range'))
      .toEqual([expect.stringMatching(/2 calls ended \(2 failed or stopped\) · .*1 abort/)])
    await page.locator('#tab-story').click()
    const shown = await texts(page, '.story .sentences li')
    expect(shown.some((text) => text.includes('its error cancels its siblings'))).toBe(true)
    expect(shown.some((text) => text.includes('Write(notes.md)'))).toBe(false)
    expect(shown.length).not.toBe(all)
    expect(await presses()).toBeLessThanOrEqual(2)
  })
})

describe('a selected time', () => {
  it('filters aborts, changes of contexts and rules as well', async () => {
    const { page } = await openRecording()
    await page.getByRole('tab', { name: 'Aborts' }).click()
    await expect.poll(() => page.locator('.abort').count()).toBe(1)
    // a focused tab keeps its keys; nothing is before the first moment
    await page.getByRole('tab', { name: 'Aborts' }).blur()
    await page.keyboard.press('Home')
    await page.keyboard.press(']')
    await page.keyboard.press('End')
    await expect.poll(() => texts(page, '.tab-panel')).toEqual(['No aborts in the selected time.'])
    await page.locator('#tab-context').click()
    await expect.poll(() => page.locator('.changes > li').count()).toBe(0)
    await page.locator('#tab-rules').click()
    await expect.poll(() => texts(page, '.rules .sum')).toEqual([expect.stringMatching(/hold.* in the selected time/)])
    await page.keyboard.press('Escape')
    await page.locator('#tab-context').click()
    await expect.poll(() => page.locator('.changes > li').count()).toBeGreaterThan(0)
    expect(stage.complaints).toEqual([])
  })
})

describe('the scrubber', () => {
  it('is even in time: half of its length is half of the time', async () => {
    const { page } = await openRecording()
    const slider = page.locator('input[type=range]')
    const [from, to] = [Number(await slider.getAttribute('min')), Number(await slider.getAttribute('max'))]
    await slider.fill(String((from + to) / 2))
    await expect.poll(async () => Number(await slider.inputValue())).toBeLessThanOrEqual((from + to) / 2)
    const clock = async () =>
      ((await texts(page, '.clock span'))[0] ?? '').split(' / ').map((part) => Number(part.replace(',', '')))
    await expect.poll(async () => (await clock())[0]).toBeLessThan((await clock())[1] as number)
    const [position = 0, length = 0] = await clock()
    expect(position).toBeGreaterThan(0)
    await page.getByLabel('Scale').selectOption('frames')
    await expect.poll(() => slider.getAttribute('max')).toBe(String(length))
    expect(await slider.inputValue()).toBe(String(position))
  })
})
