import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { chromium } from 'playwright-core'
import { flush } from 'signalbox/testing'
import { build } from 'vite'
import { expect, it } from 'vitest'
import { chromiumArguments, findChromium } from '../../../scripts/find-chromium.mjs'
import { useStage } from './stage.ts'

const onStage = useStage()

/** A stand-in for the hosted inspector: another page with the real browser receiver. */
async function inspectorPage() {
  const folder = mkdtempSync(join(tmpdir(), 'signalbox-hosted-'))
  const entry = join(import.meta.dirname, 'hosted-inspector.js')
  const lib = { entry, formats: ['es' as const], fileName: () => 'page.js' }
  const define = { 'process.env.NODE_ENV': '"production"' }
  await build({ configFile: false, logLevel: 'error', define, build: { lib, outDir: folder, emptyOutDir: false } })
  writeFileSync(join(folder, 'index.html'), '<!doctype html><ol></ol><script type="module" src="/page.js"></script>')
  const server = createServer(({ url }, response) => {
    const file = url === '/page.js' ? 'page.js' : 'index.html'
    response.setHeader('Content-Type', file.endsWith('.js') ? 'text/javascript' : 'text/html')
    response.end(readFileSync(join(folder, file)))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = async () => {
    rmSync(folder, { recursive: true, force: true })
    server.closeAllConnections()
    await new Promise((resolve) => server.close(resolve))
  }
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/inspect`, close }
}

it('the page around the hosted inspector forwards all events, in a real browser', async () => {
  const hosted = await inspectorPage()
  const { server, add, read } = await onStage({ inspector: hosted.url })
  const executablePath = findChromium()
  if (executablePath === undefined) throw new Error('Chromium not found. Run: node scripts/ensure-programs.mjs')
  const browser = await chromium.launch({ executablePath, args: chromiumArguments })
  try {
    const page = await browser.newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(error.message))
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    await page.goto(server.url)
    const items = page.frameLocator('iframe').locator('li')
    await items.filter({ hasText: 'executor' }).waitFor()
    add('a', 'Read')
    await flush()
    read.run('a').finish()
    await items.filter({ hasText: 'call {"completed":"durable"}' }).waitFor()
    // after a reload, the inspector gets the current state
    await page.frames()[1]?.evaluate('location.reload()')
    await items.filter({ hasText: 'call {"completed":"durable"}' }).waitFor()
    expect((await items.allTextContents()).slice(0, 2)).toEqual([
      'executor {"gate":"open","run":"clear"}',
      'call {"completed":"durable"}',
    ])
    expect(complaints.filter((each) => !each.includes('favicon'))).toEqual([])
  } finally {
    await browser.close()
    await hosted.close()
  }
})
