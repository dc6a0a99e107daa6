import type { ChildProcess } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, expect, it } from 'vitest'
import { startTutorial, type TutorialApp } from '../support/tutorial-app.ts'
import { useBrowser } from './support.ts'

const stage = useBrowser()
const folder = mkdtempSync(join(tmpdir(), 'signalbox-approvals-'))
const running = new Set<ChildProcess>()
afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

async function start(port: string, sessions: string): Promise<TutorialApp> {
  const app = await startTutorial(join(dirname(stage.dist), 'examples/approvals-app.mjs'), port, sessions)
  running.add(app.child)
  return app
}

it.each([
  'SIGKILL',
  'SIGTERM',
] as const)('D15 S9 the tutorial: start, %s, start again, approve in the browser, go on', async (signal) => {
  const docs = readFileSync('docs/durability.md', 'utf8')
  expect(docs).toContain(`\`\`\`js\n${readFileSync('examples/approvals-app.mjs', 'utf8')}\`\`\``)
  const sessions = join(folder, signal)
  const first = await start('0', sessions)
  const page = await stage.open(first.url)
  await page.getByRole('button', { name: 'Send' }).click()
  const approve = page.getByRole('button', { name: 'Approve' })
  await approve.waitFor()
  // a request that cannot be read is refused, and the program goes on
  for (const path of ['messages', 'answers'])
    expect(await fetch(new URL(path, first.url), { method: 'POST', body: 'x' })).toMatchObject({ status: 400 })
  await first.end(signal)
  const second = await start(new URL(first.url).port, sessions)
  // the question is there once, in the page that comes back by itself too
  await approve.waitFor()
  expect(await approve.count()).toBe(1)
  await page.reload()
  await approve.waitFor()
  expect(await approve.count()).toBe(1)
  await approve.click()
  await page.getByText('The invoice is paid.').waitFor()
  expect(await approve.count()).toBe(0)
  expect(await page.locator('li').allTextContents()).toHaveLength(4)
  await second.end('SIGTERM')
  const log = readdirSync(sessions).find((name) => name.endsWith('.jsonl')) as string
  const records = readFileSync(join(sessions, log), 'utf8')
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(records.filter(({ t }) => t === 'permission.answered')).toMatchObject([{ by: 'Ann' }])
  expect(records.filter(({ t }) => t === 'permission.asked')).toHaveLength(1)
  expect(records.filter(({ t }) => t === 'session.opened')).toHaveLength(2)
})
