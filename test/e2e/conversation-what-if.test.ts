import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { createRecorder, type Frame, frameLine } from '../../src/inspect/index.ts'
import { flush, heldTool, heldTurn, simulatedClock } from '../../src/testing/index.ts'
import { useBrowser } from './support.ts'

const stage = useBrowser()

/** 0 to 200 ms: two writes of 100 ms. 250 to 300 ms: a read. On a simulated clock. */
async function recordTwoTurns(): Promise<string> {
  const clock = simulatedClock()
  const frames: Frame[] = []
  const recorder = createRecorder({ onFrame: (frame) => frames.push(frame), now: () => clock.now(), epoch: 0 })
  const [read, write] = [heldTool('Read', { safe: true }), heldTool('Write')]
  const turn = (title: string) => {
    const made = heldTurn([read.tool, write.tool], { clock })
    recorder.watch(made.executor, { title })
    return made
  }
  const pass = async (ms: number, act: () => void, { executor }: ReturnType<typeof turn>): Promise<void> => {
    await flush()
    clock.increment(ms)
    act()
    await flush()
    for (const _ of executor.getCompletedResults());
  }
  const first = turn('turn 1')
  first.add('a', 'Write', { file_path: 'a.ts' })
  first.add('b', 'Write', { file_path: 'b.ts' })
  await pass(100, () => write.run('a').finish(), first)
  await pass(100, () => write.run('b').finish(), first)
  await pass(50, () => undefined, first)
  const second = turn('turn 2')
  second.add('c', 'Read', { file_path: 'c.ts' })
  await pass(50, () => read.run('c').finish(), second)
  const path = join(stage.folder, 'two-turns.jsonl')
  writeFileSync(path, frames.map(frameLine).join(''))
  return path
}

const rows = (page: Page) =>
  page
    .locator('.turn-times tr')
    .evaluateAll((found) => found.slice(1).map((row) => [...row.children].map((cell) => cell.textContent?.trim())))

describe('what if, over a whole conversation', () => {
  it('K3 U1 X1 shows each turn and the total before and after, for resources, thresholds and limits of a conversation', async () => {
    const page = await stage.open((await stage.serve([], { recording: await recordTwoTurns() })).url)
    await page.getByRole('tab', { name: 'What if' }).click()
    await expect
      .poll(() => rows(page))
      .toEqual([
        ['turn 1', '2', '200 ms', '200 ms', 'same'],
        ['turn 2', '1', '50 ms', '50 ms', 'same'],
        ['Whole conversation', '3', '300 ms', '300 ms', 'same'],
      ])
    await page.setViewportSize({ width: 390, height: 844 })
    const heads = page.locator('.turn-times thead th')
    const heights = await heads.evaluateAll((all) => all.map((each) => each.getClientRects()[0]?.height ?? 0))
    expect(Math.max(...heights), 'no word of the head is cut').toBeLessThan(30)
    await page.setViewportSize({ width: 1440, height: 900 })
    await page.getByText('What stays fixed').click()
    expect(await page.locator('.what-if .fixed').textContent()).toContain('Locks between executors are not simulated')
    await page.getByLabel('Resource of Write').selectOption('writes file_path')
    await expect
      .poll(() => rows(page))
      .toEqual([
        ['turn 1', '2', '200 ms', '100 ms', '−100 ms'],
        ['turn 2', '1', '50 ms', '50 ms', 'same'],
        ['Whole conversation', '3', '300 ms', '200 ms', '−100 ms'],
      ])
    expect(await page.locator('.what-if .sum b').textContent()).toBe('300 ms → 200 ms: 100 ms, 33 % shorter.')
    await page.getByLabel('How many safe calls may run at once').fill('1')
    await expect
      .poll(async () => (await rows(page)).at(-1))
      .toEqual(['Whole conversation', '3', '300 ms', '300 ms', 'same'])
    await page.getByRole('button', { name: 'As recorded' }).click()
    await page.getByLabel('Milliseconds until Write goes to the background').fill('30')
    await expect
      .poll(() => rows(page))
      .toEqual([
        ['turn 1', '2, 2 in the background', '200 ms', '60 ms', '−140 ms'],
        ['turn 2', '1', '50 ms', '50 ms', 'same'],
        ['Whole conversation', '3', '300 ms', '160 ms', '−140 ms'],
      ])
    expect(await page.locator('.what-if .doubt').allTextContents()).toEqual([
      expect.stringContaining('the model continues without the results of'),
    ])
    await page.getByRole('button', { name: 'As recorded' }).click()
    expect(await page.getByLabel('cost in US dollars').isDisabled()).toBe(true)
    await page.getByLabel('calls', { exact: true }).fill('1')
    await expect
      .poll(() => rows(page))
      .toEqual([
        ['turn 1', '2', '200 ms', '100 ms, cut off', '−100 ms'],
        ['turn 2', '1', '50 ms', 'not begun', '–'],
        ['Whole conversation', '3', '300 ms', '100 ms', '−200 ms'],
      ])
    expect(await page.locator('.what-if .ends-at').textContent()).toBe(
      'The limit of 1 calls ends it at Write(b.ts) in turn 1, 0 ms after the recording began, with 1 used. Not made: 1 turn and 2 calls.',
    )
    await page.getByLabel('calls', { exact: true }).fill('')
    await page.getByLabel('turns', { exact: true }).fill('1')
    await expect.poll(() => page.locator('.what-if .ends-at').textContent()).toContain('ends it before turn 2, 250 ms')
    await page.getByRole('button', { name: 'As recorded' }).click()
    await expect.poll(() => page.locator('.what-if .ends-at').count()).toBe(0)
    await page.getByRole('button', { name: 'This turn, call by call' }).click()
    await expect.poll(() => page.locator('.compared li').count()).toBeGreaterThan(0)
    expect(stage.complaints).toEqual([])
  })
})
