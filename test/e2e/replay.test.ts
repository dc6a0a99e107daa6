import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it } from 'vitest'
import { createRecorder, type Frame, frameLine } from '../../src/inspect/index.ts'
import { writeReplayPage } from '../../src/replay-page/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { settled, takeAll, testTurn } from '../support/turn.ts'
import { shownOn, useBrowser } from './support.ts'

const stage = useBrowser('page', 'replay')
const folder = mkdtempSync(join(tmpdir(), 'signalbox-replays-'))
afterAll(() => rmSync(folder, { recursive: true }))

const hostile = '</script><img src=x onerror=alert(1)><!-- \u2028 \uD800 <script>alert(2)</script>'

async function recorded(): Promise<Frame[]> {
  const frames: Frame[] = []
  const read = heldTool('Read', { safe: true, cancel: true, obedient: true })
  const write = heldTool('Write')
  const { executor, add } = testTurn([read.tool, write.tool])
  createRecorder({ onFrame: (frame) => frames.push(frame) }).watch(executor, { title: hostile })
  add('a', 'Read', { file_path: hostile })
  add('b', 'Write', { file_path: 'b.ts' })
  add(hostile, hostile, { file_path: hostile })
  read.run('a').finish({ data: hostile + 'x'.repeat(3_000) })
  await settled()
  takeAll(executor)
  executor.abort(hostile)
  write.run('b').finish()
  await settled()
  takeAll(executor)
  return frames
}

/** Opened from the disk, by a browser that has no network; and whatever it asked for. */
async function openFromDisk(path: string): Promise<{ page: Page; asked: string[] }> {
  const asked: string[] = []
  const context = await stage.browser.newContext({ offline: true, viewport: { width: 1440, height: 900 } })
  const page = await context.newPage()
  page.on('request', (request) => asked.push(request.url()))
  page.on('pageerror', (error) => stage.complaints.push(error.message))
  page.on('console', (message) => message.type() === 'error' && stage.complaints.push(message.text()))
  page.on('dialog', (dialog) => {
    stage.complaints.push(`a dialog: ${dialog.message()}`)
    void dialog.dismiss()
  })
  await page.goto(pathToFileURL(path).href)
  return { page, asked }
}

describe('a replay page, opened from the disk without a network', () => {
  it('shows at every moment what the inspector shows of the same recording, and asks for nothing', async () => {
    const frames = await recorded()
    const recording = join(folder, 'r.jsonl')
    writeFileSync(recording, frames.map(frameLine).join(''))
    const path = join(folder, 'r.html')
    await writeReplayPage(recording, path, { appFolder: join(stage.folder, 'inspector-app') })
    const { page, asked } = await openFromDisk(path)
    await page.locator('.tile').first().waitFor()
    // laid out by the worker that came with it
    await page.locator('.chart.call .edge').first().waitFor()
    const server = await stage.serve([], { recording })
    const inspector = await stage.open(server.url)
    await inspector.locator('.tile').first().waitFor()
    for (const at of [frames.length, 30, frames.length - 5, 12]) {
      for (const each of [page, inspector]) await each.locator('input[type=range]').fill(String(at))
      await expect.poll(() => shownOn(page)).toEqual(await shownOn(inspector))
      for (const tab of ['Call', 'Guards', 'Aborts', 'Context', 'Sequence', 'Log']) {
        for (const each of [page, inspector]) await each.getByRole('tab', { name: tab }).click()
        const text = (each: Page) => each.locator('.tab-panel').innerText()
        await expect.poll(() => text(page)).toBe(await text(inspector))
        expect(await page.locator('img, #app script').count()).toBe(0)
      }
    }
    expect(asked.filter((url) => !url.startsWith('file:') && !url.startsWith('blob:'))).toEqual([])
    expect(asked.filter((url) => url.startsWith('file:'))).toHaveLength(1)
    expect(stage.complaints).toEqual([])
    await page.context().close()
  })

  it('could load and run nothing, even if something got out of its block', async () => {
    const path = join(folder, 'broken-out.html')
    await writeReplayPage(await recorded(), path, { appFolder: join(stage.folder, 'inspector-app') })
    const evil =
      '<script>window.evil = 1</script><img src="https://evil.test/x" onerror="window.evil = 2"><iframe src="https://evil.test/"></iframe><link rel="stylesheet" href="https://evil.test/x.css"><base href="https://evil.test/">'
    writeFileSync(path, readFileSync(path, 'utf8').replace('<div id="app">', `${evil}<div id="app">`))
    const { page, asked } = await openFromDisk(path)
    await page.locator('.tile').first().waitFor()
    expect(await page.evaluate(() => 'evil' in globalThis)).toBe(false)
    expect(asked.filter((url) => /^https?:/.test(url))).toEqual([])
    const fetched = await page.evaluate(() => fetch('https://evil.test/').then(String, (error: Error) => error.name))
    expect(fetched).toBe('TypeError')
    stage.complaints.length = 0
    await page.context().close()
  })

  it('that was damaged on its way says so', async () => {
    const path = join(folder, 'damaged.html')
    await writeReplayPage(await recorded(), path, { appFolder: join(stage.folder, 'inspector-app') })
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace(/(signalbox-recording">.{60}).{40}/, `$1${'A'.repeat(40)}`))
    const { page } = await openFromDisk(path)
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('it may be damaged')
    expect(stage.complaints).toEqual([])
    await page.context().close()
  })
})
