import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterAll, afterEach, expect, it } from 'vitest'
import { useBrowser } from './support.ts'

const stage = useBrowser()
const folder = mkdtempSync(join(tmpdir(), 'signalbox-approvals-'))
const running = new Set<ChildProcess>()
afterEach(() => {
  for (const child of running) child.kill('SIGKILL')
})
afterAll(() => rmSync(folder, { recursive: true, force: true }))

/** Starts the program of the docs on a port. Resolves with its address. */
async function start(
  port: string,
  sessions: string,
): Promise<{ url: string; end(signal: 'SIGKILL' | 'SIGTERM'): Promise<void> }> {
  const program = join(dirname(stage.dist), 'examples/approvals-app.mjs')
  const child = spawn(process.execPath, [program, port, sessions], { stdio: ['ignore', 'pipe', 'pipe'] })
  running.add(child)
  const exit = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  let said = ''
  const url = await new Promise<string>((resolve, reject) => {
    child.stderr.on('data', (data) => {
      said += data
    })
    child.stdout.once('data', (data) => resolve(String(data).trim()))
    void exit.then(() => reject(new Error(`The program ended: ${said}`)))
  })
  const end = async (signal: 'SIGKILL' | 'SIGTERM'): Promise<void> => {
    child.kill(signal)
    await exit
    running.delete(child)
  }
  return { url, end }
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
  await first.end(signal)
  const second = await start(new URL(first.url).port, sessions)
  // the question is there once
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
