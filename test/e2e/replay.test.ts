import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, describe, expect, it, onTestFinished } from 'vitest'
import { createRecorder, type Frame, frameLine } from '../../src/inspect/index.ts'
import { writeReplayPage } from '../../src/inspect/replay-page/index.ts'
import { heldTool } from '../support/held-tool.ts'
import { flush, takeAll, testTurn } from '../support/turn.ts'
import { scrubByFrame, shownOn, someLooks, useBrowser, violations } from './support.ts'

const stage = useBrowser()
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
  await flush()
  takeAll(executor)
  executor.abort(hostile)
  write.run('b').finish()
  await flush()
  takeAll(executor)
  return frames
}

/** Opens the page from disk in a browser without a network, and collects its requests. */
async function openFromDisk(path: string, offline = true, look = {}): Promise<{ page: Page; asked: string[] }> {
  const asked: string[] = []
  const context = await stage.browser.newContext({
    offline,
    viewport: { width: 1440, height: 900 },
    reducedMotion: 'reduce',
    ...look,
  })
  onTestFinished(() => context.close())
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
  it('shows the same as the inspector at every moment, and sends no request', async () => {
    const frames = await recorded()
    const recording = join(folder, 'r.jsonl')
    writeFileSync(recording, frames.map(frameLine).join(''))
    const path = join(folder, 'r.html')
    await writeReplayPage(recording, path, { appFolder: join(stage.dist, 'inspector-app') })
    const { page, asked } = await openFromDisk(path)
    await page.locator('.tile').first().waitFor()
    // laid out by the embedded worker
    await page.locator('.chart.call .edge').first().waitFor()
    const server = await stage.serve([], { recording })
    const inspector = await stage.open(server.url)
    await inspector.locator('.tile').first().waitFor()
    for (const at of [frames.length, 30]) {
      for (const each of [page, inspector]) await (await scrubByFrame(each)).fill(String(at))
      // either page may not have drawn yet
      const pictures = async () =>
        Promise.all([page, inspector].map(async (each) => JSON.stringify(await shownOn(each))))
      await expect.poll(async () => new Set(await pictures()).size).toBe(1)
      for (const tab of ['Story', 'Guards', 'Aborts', 'Context', 'Sequence', 'Log']) {
        for (const each of [page, inspector]) {
          await each.getByRole('tab', { name: tab }).click()
          await each.getByRole('tab', { name: tab, selected: true }).waitFor()
        }
        const text = async (each: Page) => (await each.locator('.tab-panel, .call-panel').allInnerTexts()).join('\n')
        const compare = async (): Promise<string> => {
          const [here, there] = [await text(page), await text(inspector)]
          return here === there ? 'the same' : `${here}\n\nis not\n\n${there}`
        }
        await expect.poll(compare).toBe('the same')
        expect(await page.locator('img, #app script').count()).toBe(0)
      }
    }
    expect(asked.filter((url) => !url.startsWith('file:') && !url.startsWith('blob:'))).toEqual([])
    expect(asked.filter((url) => url.startsWith('file:'))).toHaveLength(1)
    expect(stage.complaints).toEqual([])
  })

  it('could load and run nothing, even if content escaped from its block and there were a network', async () => {
    let hits = 0
    const evil = createServer((_, response) => {
      hits++
      response.end()
    })
    await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve))
    const at = `http://127.0.0.1:${(evil.address() as AddressInfo).port}`
    const path = join(folder, 'broken-out.html')
    await writeReplayPage(await recorded(), path, { appFolder: join(stage.dist, 'inspector-app') })
    const tags = [
      '<script>window.evil = 1</script>',
      `<script src="${at}/x.js"></script>`,
      `<img src="${at}/x" onerror="window.evil = 2">`,
      `<iframe src="${at}/"></iframe>`,
      `<link rel="stylesheet" href="${at}/x.css">`,
      `<base href="${at}/">`,
      `<form id="form" action="${at}/"></form>`,
    ]
    writeFileSync(path, readFileSync(path, 'utf8').replace('<div id="app">', `${tags.join('')}<div id="app">`))
    const { page } = await openFromDisk(path, false)
    await page.locator('.tile').first().waitFor()
    const tried = await page.evaluate(
      (url) =>
        fetch(url).then(
          () => 'loaded',
          (error: Error) => error.name,
        ),
      at,
    )
    await page.evaluate(() => (document.getElementById('form') as HTMLFormElement).submit())
    await page.waitForFunction(() => document.readyState === 'complete')
    expect([tried, await page.evaluate(() => 'evil' in globalThis), hits]).toEqual(['TypeError', false, 0])
    evil.close()
    stage.complaints.length = 0
  })

  it('simulates its run on the real charts, without a network', async () => {
    const path = join(folder, 'what-if.html')
    await writeReplayPage(await recorded(), path, { appFolder: join(stage.dist, 'inspector-app') })
    const { page } = await openFromDisk(path)
    await page.getByRole('tab', { name: 'What if' }).click()
    await expect.poll(() => page.locator('.what-if .sum').textContent()).toContain('as recorded')
    await page.getByRole('button', { name: 'Write: unsafe' }).click()
    await expect.poll(() => page.locator('.what-if .sum').textContent()).toContain('start earlier')
    expect(stage.complaints).toEqual([])
  })

  it.each(someLooks)('has no fault that axe finds, $colorScheme, $viewport.width pixels wide', async (look) => {
    const path = join(folder, 'everybody.html')
    await writeReplayPage(await recorded(), path, { appFolder: join(stage.dist, 'inspector-app') })
    const { page } = await openFromDisk(path, true, look)
    await page.locator('.tile').first().waitFor()
    const found = await violations(page)
    for (const tab of await page.getByRole('tab').all()) {
      await tab.click()
      found.push(...(await violations(page, '.details')))
    }
    expect(found).toEqual([])
  })

  it('that was damaged says so', async () => {
    const path = join(folder, 'damaged.html')
    await writeReplayPage(await recorded(), path, { appFolder: join(stage.dist, 'inspector-app') })
    const text = readFileSync(path, 'utf8')
    writeFileSync(path, text.replace(/(signalbox-recording">.{60}).{40}/, `$1${'A'.repeat(40)}`))
    const { page } = await openFromDisk(path)
    await expect.poll(() => page.getByRole('alert').textContent()).toContain('It may be damaged')
    expect(stage.complaints).toEqual([])
  })
})
