import { fork } from 'node:child_process'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import type { Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { heldTool } from '../support/held-tool.ts'
import { testTurn } from '../support/turn.ts'
import { shownBy, shownOn, useBrowser } from './support.ts'

const stage = useBrowser()

const setUp = () => {
  const read = heldTool('Read', { safe: true })
  return { read, ...testTurn([read.tool]) }
}

/** A host in a process of its own: it sends the address of its page, and adds a call whenever it gets a message. */
function startHost() {
  const entry = (path: string): string => JSON.stringify(pathToFileURL(join(stage.dist, 'src', path)).href)
  const program = join(stage.folder, 'host.mjs')
  writeFileSync(
    program,
    `import { createAssistantMessage, StreamingToolExecutor } from ${entry('index.js')}
import { serveInspector } from ${entry('inspect/server/index.js')}
import { z } from ${JSON.stringify(pathToFileURL(createRequire(import.meta.url).resolve('zod')).href)}
const read = { name: 'Read', inputSchema: z.object({}), isConcurrencySafe: () => true, call: () => new Promise(() => {}) }
const executor = new StreamingToolExecutor([read], async () => ({ behavior: 'allow' }))
const { url } = await serveInspector(executor, { appFolder: ${JSON.stringify(join(stage.dist, 'inspector-app'))} })
process.on('message', (id) => executor.addTool({ type: 'tool_use', id, name: 'Read', input: {} }, createAssistantMessage([])))
process.send(url)
`,
  )
  const child = fork(program)
  const ended = once(child, 'exit').then(([code]) => {
    throw new Error(`The host ended with ${code}.`)
  })
  ended.catch(() => undefined)
  return { child, url: Promise.race([once(child, 'message').then(([url]) => String(url)), ended]) }
}

const source = (page: Page) => page.locator('.top-bar .source').textContent()

describe('the state of the connection', () => {
  it('recovers after the tab was blocked and disconnected, without a missing or doubled frame', async () => {
    const { executor, add } = setUp()
    const server = await stage.serve(executor, { ackTimeoutMs: 200 })
    const page = await stage.open(server.url)
    add('a', 'Read')
    await expect.poll(() => shownOn(page)).toMatchObject(shownBy(executor))
    const dropped = page.waitForEvent('websocket', { timeout: 120_000 })
    const begun = page.waitForEvent('console')
    const blocked = page.evaluate(() => {
      console.debug('blocked')
      const until = performance.now() + 3_000
      while (performance.now() < until);
    })
    // only what is sent while the page is blocked stays without an answer
    await begun
    add('b', 'Read')
    await blocked
    expect((await dropped).url()).toMatch(/after=[1-9]\d*/)
    await expect.poll(() => source(page)).toBe('live')
    add('c', 'Read')
    await expect.poll(() => shownOn(page)).toMatchObject(shownBy(executor))
    expect(await page.locator('.log .gap').count()).toBe(0)
    expect(stage.complaints).toEqual([])
  })

  it('says that the server is gone, and is live again when it is back with the same token', async () => {
    const { executor, add } = setUp()
    const token = 'the-same-token-for-each-start-of-it'
    const first = await stage.serve(executor, { token })
    const page = await stage.open(first.url)
    add('a', 'Read')
    await expect.poll(() => page.locator('.tile').count()).toBe(1)
    await first.close()
    await expect.poll(() => source(page)).toBe('server gone')
    expect(await page.locator('.tile').count()).toBe(1)
    add('b', 'Read')
    await stage.serve(executor, { token, port: Number(new URL(first.url).port) })
    await expect.poll(() => source(page)).toBe('live')
    await expect.poll(() => page.locator('.tile').count()).toBe(2)
    expect(await page.locator('.problem').textContent()).toContain('new recording')
  })

  it('is not live while a server that dropped the connection does not answer', async () => {
    const { executor, add } = setUp()
    const server = await stage.serve(executor)
    const page = await stage.open(server.url)
    add('a', 'Read')
    await expect.poll(() => page.locator('.tile').count()).toBe(1)
    // like a process that is stopped: it takes the request and is silent
    await page.route('**/state', () => undefined)
    await server.close()
    await expect.poll(() => source(page)).toBe('reconnecting')
    await expect.poll(() => source(page), { timeout: 30_000 }).toBe('server gone')
  })

  it('says for how long there was no sign of a host that is stopped, and is live again when it goes on', async () => {
    const { child, url } = startHost()
    try {
      const page = await stage.open(await url)
      child.send('a')
      await expect.poll(() => page.locator('.tile').count()).toBe(1)
      expect(await source(page)).toBe('live')
      child.kill('SIGSTOP')
      child.send('b')
      await expect.poll(() => source(page), { timeout: 30_000 }).toMatch(/^no sign of the server for [5-9] s$/)
      expect(await page.locator('.tile').count()).toBe(1)
      child.kill('SIGCONT')
      await expect.poll(() => source(page)).toBe('live')
      await expect.poll(() => page.locator('.tile').count()).toBe(2)
      expect(await page.locator('.log .gap').count()).toBe(0)
      expect(stage.complaints).toEqual([])
    } finally {
      // the only signal that ends a process that is stopped
      child.kill('SIGKILL')
    }
  })

  it('says that too many browsers are connected, and is live once another one leaves', async () => {
    const { executor, add } = setUp()
    const server = await stage.serve(executor, { maxClients: 1 })
    const first = await stage.open(server.url)
    await expect.poll(() => source(first)).toBe('live')
    const second = await stage.open(server.url)
    await expect.poll(() => source(second)).toBe('reconnecting')
    expect(await second.locator('.problem').textContent()).toContain('Too many browsers are connected')
    await first.close()
    add('a', 'Read')
    await expect.poll(() => source(second)).toBe('live')
    await expect.poll(() => second.locator('.tile').count()).toBe(1)
    expect(await second.locator('.problem').count()).toBe(0)
  })

  it('names a wrong token, and a page without anything to follow', async () => {
    const server = await stage.serve(setUp().executor)
    const page = await stage.open(`${new URL(server.url).origin}/#token=wrong`)
    await expect.poll(() => source(page)).toBe('wrong token')
    const viewer = await stage.open((await stage.serve([], { viewerOnly: true })).url)
    await expect.poll(() => source(viewer)).toBe('open a recording')
    expect(await viewer.locator('.welcome h2').textContent()).toBe('Open a recording')
  })
})
