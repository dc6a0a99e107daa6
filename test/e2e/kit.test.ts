import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createRecorder, frameLine } from '../../src/inspect/index.ts'
import { coverage, flush, heldTool, heldTurn } from '../../src/testing/index.ts'
import { scrubByFrame, useBrowser } from './support.ts'

const stage = useBrowser()

let folder: string
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'signalbox-kit-page-'))
})
afterAll(() => rmSync(folder, { recursive: true }))

/** A turn with a held unsafe call that no call may overtake; with the fault, a call does. */
async function record(isFaulty: boolean): Promise<{ recording: string; coverageFile: string }> {
  const read = heldTool('Read', { safe: true })
  const edit = heldTool('Edit')
  const { executor, add } = heldTurn([read.tool, edit.tool])
  const { queue } = executor.actor.getSnapshot().context.run
  if (isFaulty) Object.assign(queue, { barrierBefore: () => undefined })
  const lines: string[] = []
  const recorder = createRecorder({ onFrame: (frame) => lines.push(frameLine(frame)) })
  const { leave } = recorder.watch(executor)
  const taken = coverage()
  taken.watch(executor)
  add('a', 'Edit', {}, { hold: true })
  add('b', 'Read')
  await flush()
  executor.release('a')
  await flush()
  // finish the running calls one after the other
  for (let n = 0; n < 3; n++) {
    for (const id of edit.started) edit.run(id).finish()
    for (const id of read.started) read.run(id).finish()
    await flush()
  }
  for (const _ of executor.getCompletedResults());
  leave()
  const name = join(folder, isFaulty ? 'faulty' : 'intact')
  writeFileSync(`${name}.jsonl`, lines.join(''))
  writeFileSync(`${name}.json`, taken.save())
  return { recording: `${name}.jsonl`, coverageFile: `${name}.json` }
}

const textsOf = async (page: Page, selector: string): Promise<string[]> =>
  (await page.locator(selector).allTextContents()).map((text) => text.trim().replace(/\s+/g, ' '))

describe('the rules of the kit on the page', () => {
  it('Q5 name a breach, link to its frame, and hold before it', async () => {
    const { recording } = await record(true)
    const page = await stage.open((await stage.serve([], { recording })).url)
    await expect.poll(() => textsOf(page, '#tab-rules em')).toEqual(['1'])
    await page.locator('#tab-rules').click()
    await expect
      .poll(() => textsOf(page, '.rules .breached .problem-text'))
      .toEqual(['b started while a before it still waited, and the two conflict'])
    const broken = page.locator('.rules li', { hasText: 'no overtaking' })
    const frame = Number((await broken.locator('button').textContent())?.match(/\d+/)?.[0])
    await broken.locator('button').click()
    const slider = await scrubByFrame(page)
    await expect.poll(async () => Number(await slider.inputValue())).toBe(frame + 1)
    await expect.poll(() => textsOf(page, '.track.shared .wagon .label')).toEqual(['2 Read'])
    await slider.fill(String(frame))
    await expect.poll(() => textsOf(page, '.rules .breached .name')).not.toContain('no overtaking')
    await expect.poll(() => broken.textContent()).toContain(`later: frame ${frame}`)
    expect(stage.complaints).toEqual([])
  })

  it('Q5 all hold for a correct turn, and for one that is watched live', async () => {
    const { recording } = await record(false)
    const page = await stage.open((await stage.serve([], { recording })).url)
    await page.locator('#tab-rules').click()
    await expect.poll(() => textsOf(page, '.rules .sum')).toEqual(['All 15 rules hold'])
    expect(await textsOf(page, '.rules .breached')).toEqual([])
    expect((await textsOf(page, '.rules > .what')).at(-1)).toContain('readers are woken')
  })

  it('Y6 rules of the host are checked by the host and shown beside them', async () => {
    const read = heldTool('Read', { safe: true })
    const { executor, add } = heldTurn([read.tool])
    const atMostOne = {
      name: 'at most one call',
      check: ({ calls }: { calls: readonly unknown[] }) => (calls.length > 1 ? `there are ${calls.length}` : undefined),
    }
    const server = await stage.serve(executor, { invariants: [atMostOne] })
    const page = await stage.open(server.url)
    add('a', 'Read')
    await page.locator('#tab-rules').click()
    await expect.poll(() => textsOf(page, '.rules .sum')).toEqual(['All 15 rules hold'])
    add('b', 'Read')
    await expect.poll(() => textsOf(page, '.rules .breached .problem-text')).toEqual(['there are 2'])
    expect(await textsOf(page, '.rules .sum')).toEqual(['1 of 16 rules do not hold'])
    expect(stage.complaints).toEqual([])
  })
})

describe('heat on the charts', () => {
  it('Q1 shows the transitions that a run took, and that a suite took, with totals and those never taken', async () => {
    const { recording, coverageFile } = await record(false)
    const page = await stage.open((await stage.serve([], { recording, coverage: coverageFile })).url)
    // the file was passed, so it is shown
    await expect.poll(() => textsOf(page, '.chart.call .heat-legend b')).toEqual([expect.stringMatching(/^\d+ of \d+/)])
    const legend = page.locator('.chart.call .heat-legend')
    expect(await legend.textContent()).toContain('taken by the test suite')
    await legend.locator('summary').click()
    const never = await textsOf(page, '.chart.call .heat-legend li')
    expect(never).toContain('call.executing.calling --call.timedOut[0]→ call.executing.stopping')
    const counts = () => textsOf(page, '.chart.call .heat-count text')
    await expect.poll(async () => (await counts()).some((text) => text.startsWith('2'))).toBe(true)
    const ofFile = await counts()
    await page.locator('.chart.call .heat-choice').selectOption('run')
    await expect.poll(() => legend.textContent()).toContain('taken in this run so far')
    expect(await counts()).toEqual(ofFile)
    expect(await page.locator('.chart.call .edge.heat-0').count()).toBeGreaterThan(3)
    expect(await page.locator('.chart.call .state.heat-0[data-state=asking]').count()).toBe(1)
    await page.locator('input[type=range]').fill('0')
    await expect.poll(() => textsOf(page, '.chart.executor .heat-count text')).toEqual([])
    expect(stage.complaints).toEqual([])
  })

  it('Q1 draws a coverage file without a run, and rejects other files', async () => {
    const { coverageFile } = await record(false)
    const page = await stage.open((await stage.serve([])).url)
    await page.locator('#file').setInputFiles(coverageFile)
    await expect.poll(() => textsOf(page, '.coverage-board .title')).toEqual(['call', 'executor', 'query'])
    await expect.poll(() => page.locator('.coverage-board .edge.heat-0').count()).toBeGreaterThan(10)
    const wrong = join(folder, 'wrong.json')
    writeFileSync(wrong, '{"signalbox":"coverage","version":1,"charts":[{"chart":"<b>","counts":[1]}]}')
    await page.locator('#file').setInputFiles(wrong)
    await expect
      .poll(() => textsOf(page, '.problem'))
      .toEqual(['Not a coverage file: expected { "signalbox": "coverage", "version": 1, "charts": […] }.'])
    expect(await textsOf(page, '.coverage-board .title')).toEqual(['call', 'executor', 'query'])
    expect(stage.complaints).toEqual([])
  })
})
