import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { chromium } from 'playwright-core'
import { preview } from 'vite'
import { openSession } from '../dist/src/durable/index.js'
import { defineTool, query } from '../dist/src/index.js'
import { serveInspector } from '../dist/src/inspect/server/index.js'
import { fileJournals } from '../dist/src/node/index.js'
import { scriptedModel } from '../dist/src/query/scripted/index.js'
import { stagedConversation, stagedPrices } from './staged-conversation.mjs'
import { stagedSessions } from './staged-sessions.mjs'
import { stagedTurn } from './staged-turn.mjs'
import { toldTurn } from './told-turn.mjs'

// Takes the screenshots in docs/images, light and dark: staged turns, an agent at four sizes, sessions. Needs `npm run build`.
const folder = new URL('../docs/images/', import.meta.url)
const only = process.argv[2]

const laptop = { width: 1440, height: 900 }
const phone = { width: 390, height: 844 }
const large = { width: 1920, height: 1080 }
const small = { width: 1024, height: 700 }
const tabs = ['log', 'guards', 'context', 'sequence']

await mkdir(folder, { recursive: true })
const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
  args: ['--no-sandbox', '--disable-gpu', '--no-first-run', '--disable-background-networking', '--disable-sync'],
})
try {
  for (const scene of ['busy', 'aborted', 'thousand']) {
    if (only !== undefined && !only.startsWith(scene)) continue
    const turn = await stagedTurn(scene)
    try {
      for (const colorScheme of ['light', 'dark']) {
        await shoot(turn, scene, colorScheme)
      }
    } finally {
      await turn.close()
    }
  }
  if (only === undefined || only.startsWith('agent')) await shootAgent()
  if (only === undefined || only.startsWith('told')) await shootTold()
  if (only === undefined || only.startsWith('sessions')) await shootSessions()
  if (only === undefined || only.startsWith('playground')) await shootPlayground()
} finally {
  await browser.close()
}

/** An agent in its third turn, with an open question. */
async function shootAgent() {
  const inspector = await serveInspector([], { record: 'always', commands: true, prices: stagedPrices })
  const agent = await stagedConversation({ defineTool, query, scriptedModel }, inspector)
  try {
    for (const colorScheme of ['light', 'dark']) {
      for (const [device, viewport] of Object.entries({ laptop, phone, large, small })) {
        for (const tab of device === 'laptop' ? ['story', 'call', 'whatIf'] : ['story']) {
          const name = `agent-${tab === 'whatIf' ? 'what-if' : tab}-${device}-${colorScheme}`
          if (only !== undefined && !name.includes(only)) continue
          const page = await browser.newPage({ viewport, colorScheme })
          await page.goto(inspector.url)
          await page.locator('.chart.call .edge').first().waitFor()
          // at these sizes the call has a panel of its own
          if (tab === 'call') await page.locator('.conversation .line', { hasText: 'npm test' }).click()
          else await page.locator(`#tab-${tab}`).click()
          if (tab === 'whatIf') {
            await page.getByLabel('Milliseconds until Bash goes to the background').fill('100')
            await page.locator('.turn-times .ok').first().waitFor()
          }
          await page.evaluate(() => scrollTo(0, 0))
          await page.screenshot({ path: new URL(`${name}.png`, folder).pathname, animations: 'disabled' })
          console.log(`docs/images/${name}.png`)
          await page.close()
        }
      }
    }
  } finally {
    await agent.stop()
    await inspector.close()
  }
}

/** Stored sessions: the list, and two of them compared. */
async function shootSessions() {
  const stored = await mkdtemp(join(tmpdir(), 'signalbox-sessions-'))
  const journals = fileJournals({ folder: stored })
  await stagedSessions({ defineTool, openSession, scriptedModel, journals })
  const inspector = await serveInspector([], { journals, viewerOnly: true })
  try {
    for (const colorScheme of ['light', 'dark']) {
      const page = await browser.newPage({ viewport: laptop, colorScheme })
      await page.goto(inspector.url)
      await page.locator('.session').first().waitFor()
      for (const id of ['release-monday', 'release-tuesday'])
        await page.getByLabel(`Mark ${id} for a comparison`).check()
      const take = async (name) => {
        await page.screenshot({ path: new URL(`${name}.png`, folder).pathname, animations: 'disabled' })
        console.log(`docs/images/${name}.png`)
      }
      await take(`sessions-list-laptop-${colorScheme}`)
      await page.getByRole('button', { name: 'Compare the two marked' }).click()
      await page.locator('.first-difference').waitFor()
      await page.locator('.chart.call .edge').first().waitFor()
      await take(`sessions-compare-laptop-${colorScheme}`)
      await page.close()
    }
  } finally {
    await inspector.close()
    await rm(stored, { recursive: true, force: true })
  }
}

/** Steps the clock of each scenario to a characteristic moment. */
async function shootPlayground() {
  const moments = {
    mixed: 2_000,
    sibling: 2_500,
    interrupt: 2_000,
    fallback: 3_000,
    'slow-first': 3_300,
    permission: 1_800,
  }
  const configFile = fileURLToPath(new URL('../inspector-app/playground.config.ts', import.meta.url))
  const server = await preview({ configFile, logLevel: 'error' })
  try {
    for (const colorScheme of ['light', 'dark']) {
      for (const [scenario, moment] of Object.entries(moments)) {
        const name = `playground-${scenario}-laptop-${colorScheme}`
        if (colorScheme === 'dark' && scenario !== 'mixed') continue
        if (only !== undefined && !name.includes(only)) continue
        const page = await browser.newPage({ viewport: laptop, colorScheme })
        await page.goto(`${server.resolvedUrls.local[0]}#scenario=${scenario}&paused`)
        await page.locator('.chart.call .edge').first().waitFor()
        while (await page.evaluate((until) => playground.clock.canStep && playground.clock.now() < until, moment)) {
          await page.getByRole('button', { name: 'Step' }).click()
        }
        await page.mouse.move(700, 20)
        // an aborted body settles a moment later
        await page.waitForTimeout(300)
        await page.screenshot({ path: new URL(`${name}.png`, folder).pathname, animations: 'disabled' })
        console.log(`docs/images/${name}.png`)
        await page.close()
      }
    }
  } finally {
    await server.close()
  }
}

/** A recording with a simulation, and compared with another one. */
async function shootTold() {
  const recordings = await mkdtemp(join(tmpdir(), 'signalbox-told-'))
  const [one, other] = ['today.jsonl', 'yesterday.jsonl'].map((name) => join(recordings, name))
  await toldTurn(one)
  await toldTurn(other, { 1: { ms: 260 }, 3: { problem: 'no such host' }, 4: { of: 'docs/c.md' } })
  const inspector = await serveInspector([], { recording: one })
  try {
    for (const colorScheme of ['light', 'dark']) {
      const page = await browser.newPage({ viewport: laptop, colorScheme, deviceScaleFactor: 1.25 })
      await page.goto(inspector.url)
      await page.locator('.chart.call .edge').first().waitFor()
      const take = async (tab) => {
        const name = `told-${tab}-laptop-${colorScheme}`
        await page.screenshot({ path: new URL(`${name}.png`, folder).pathname, animations: 'disabled' })
        console.log(`docs/images/${name}.png`)
      }
      await page.locator('#tab-whatIf').click()
      await page.getByRole('button', { name: 'Fetch: unsafe' }).click()
      await page.getByText('Open as a recording').waitFor()
      await take('what-if')
      await page.locator('#tab-compare').click()
      await page.locator('#other').setInputFiles(other)
      await page.locator('.compared').waitFor()
      await take('compare')
      await page.close()
    }
  } finally {
    await inspector.close()
    await rm(recordings, { recursive: true, force: true })
  }
}

async function shoot(turn, scene, colorScheme) {
  const page = await browser.newPage({ viewport: laptop, colorScheme, deviceScaleFactor: 1.25 })
  page.on('console', (message) => message.type() === 'error' && console.error(message.text()))
  page.on('pageerror', (error) => console.error(error.message))
  await page.goto(turn.url)
  await page.locator('.tile').first().waitFor()
  await page.locator('.chart.call .edge').first().waitFor()
  if (turn.selected !== undefined) await page.locator('.tile').nth(turn.selected).click()
  for (const tab of scene === 'busy' ? tabs : scene === 'aborted' ? ['aborts'] : ['log']) {
    const name = `${scene}-${tab}-laptop-${colorScheme}`
    if (only !== undefined && !name.includes(only)) continue
    await page.locator(`#tab-${tab}`).click()
    await page.evaluate(() => scrollTo(0, 0))
    await page.screenshot({
      path: new URL(`${name}.png`, folder).pathname,

      animations: 'disabled',
    })
    console.log(`docs/images/${name}.png`)
  }
  await page.close()
}
