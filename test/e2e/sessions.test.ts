import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSession } from 'signalbox/durable'
import { fileJournals } from 'signalbox/node'
import { scriptedModel } from 'signalbox/scripted'
import { subAgent } from 'signalbox/sub-agent'
import { afterAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AnyTool, defineTool, type Model } from '../../src/index.ts'
import { useBrowser, violations } from './support.ts'

const stage = useBrowser()
const folder = mkdtempSync(join(tmpdir(), 'signalbox-sessions-'))
afterAll(() => rmSync(folder, { recursive: true }))

const script = '<img src=x onerror=alert(1)>'

/** A session that a crash stopped in the middle of a payment, and that another process finished. */
async function recovered(): Promise<void> {
  const journals = fileJournals({ folder })
  const crash = { with: () => undefined as void }
  const look = defineTool({
    name: 'Look',
    inputSchema: z.object({ at: z.string() }),
    isReadOnly: () => true,
    isConcurrencySafe: () => true,
    call: async () => ({ data: 'seen' }),
  })
  const pay = defineTool({
    name: 'Pay',
    inputSchema: z.object({ sum: z.number() }),
    call: () => new Promise<never>(() => crash.with()),
  })
  const model: Model = (request) =>
    scriptedModel([
      JSON.stringify(request.messages).includes('tool_result')
        ? 'Done.'
        : [
            { call: 'Look', input: { at: script } },
            { call: 'Pay', input: { sum: 5 } },
          ],
    ])(request)
  const context = { permissions: { allow: ['Look', 'Pay'] } }
  const first = await openSession({ id: 'payments', journals, tools: [look, pay], model, context, owner: 'worker-1' })
  await new Promise<void>((resolve) => {
    crash.with = resolve
    first.send('Pay the invoice.')
  })
  await first.suspend()
  await first.close()
  const second = await openSession({ id: 'payments', journals, tools: [look, pay], model, context, owner: 'worker-2' })
  for await (const _ of second.resume());
  await second.close()
}

/** A session whose agent waits for an answer. */
async function asking(): Promise<void> {
  const pay = defineTool({ name: 'Pay', inputSchema: z.object({}), call: async () => ({ data: 'paid' }) })
  const agent = subAgent({ tools: [pay], model: scriptedModel([[{ call: 'Pay', input: {} }], 'Done.']) })
  const session = await openSession({
    id: `trip ${script}`,
    journals: fileJournals({ folder }),
    tools: [agent as AnyTool],
    model: scriptedModel([[{ call: 'Agent', input: { prompt: 'go' } }], 'Done.']),
    canUseTool: () => ({ behavior: 'later' }),
    context: { permissions: { allow: ['Agent'] } },
  })
  for await (const _ of session.send('Book it.'));
  await session.close()
}

describe('stored sessions in the page', () => {
  it('D26 are listed, agents below their session, and open as recordings with what is from the log and what is unknown', async () => {
    await recovered()
    await asking()
    writeFileSync(join(folder, `${'a'.repeat(64)}.jsonl`), 'not a journal\n')
    const server = await stage.serve([], { journals: fileJournals({ folder }), viewerOnly: true })
    const page = await stage.open(server.url)
    const list = page.getByRole('list', { name: 'Stored sessions' })
    await list.waitFor()
    const button = (id: string) => page.getByRole('button', { name: id, exact: true })
    const line = (id: string) => list.locator('.session', { has: button(id) })
    await expect.poll(() => line('payments').textContent()).toMatch(/payments.*idle.*recovered.*1 unknown outcome/)
    await expect.poll(() => line(`trip ${script}`).textContent()).toContain('suspended')
    const agents = page.getByRole('list', { name: `Agents of trip ${script}` })
    await expect.poll(() => agents.textContent()).toContain('1 open question')
    expect(await button('a'.repeat(64)).isDisabled()).toBe(true)
    expect(await list.textContent()).toContain('The journal is damaged.')
    await button('payments').click()
    await page.locator('.tile.unknown').waitFor()
    expect(await page.locator('.tile.from-log').getAttribute('aria-label')).toContain('from the log')
    expect(await page.locator('.tile.unknown').textContent()).toBe('2?')
    expect(await page.locator('.tile.unknown').getAttribute('aria-label')).toContain('outcome unknown')
    expect(await page.locator('.recovered-note').textContent()).toMatch(/Recovered by worker-2 .* payments.* worker-1/)
    await page.getByRole('list', { name: 'Colours' }).getByText('unknown (?)').waitFor()
    for (const theme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme: theme })
      expect(await violations(page)).toEqual([])
    }
    await page.getByRole('button', { name: 'Stored sessions' }).click()
    await page.getByRole('dialog', { name: 'Stored sessions' }).waitFor()
    expect(await violations(page)).toEqual([])
    await button(`trip ${script}`).click()
    await page.locator('.inbox').getByText('Pay').first().waitFor()
    await expect.poll(() => page.locator('.conversation .agent').count()).toBe(1)
    expect(stage.complaints).toEqual([])
  })
})

/** A finished session of two turns; `isBroken`: its second turn fails. */
async function finished(id: string, isBroken: boolean): Promise<void> {
  const read = defineTool({
    name: 'Read',
    inputSchema: z.object({ path: z.string() }),
    isConcurrencySafe: () => true,
    describe: ({ path }) => path,
    async call({ path }) {
      if (isBroken && path === 'b.ts') throw new Error('gone')
      return { data: `the text of ${path}` }
    },
  })
  const session = await openSession({
    id,
    journals: fileJournals({ folder }),
    tools: [read],
    model: scriptedModel([
      [{ call: 'Read', input: { path: 'a.ts' } }],
      [{ call: 'Read', input: { path: 'b.ts' } }],
      'Done.',
    ]),
    context: { permissions: { allow: ['Read'] } },
  })
  for await (const _ of session.send('Read both.'));
  await session.close()
}

describe('two stored sessions', () => {
  it('D26 are found, marked and compared turn by turn, and a link opens the comparison', async () => {
    await finished('monday', false)
    await finished('tuesday', true)
    const server = await stage.serve([], { journals: fileJournals({ folder }), viewerOnly: true })
    const page = await stage.open(server.url)
    await page.getByLabel('Find a session').fill('day')
    const ids = () => page.locator('.session .id').allTextContents()
    await expect.poll(async () => (await ids()).sort()).toEqual(['monday', 'tuesday'])
    await page.getByLabel('Status', { exact: true }).selectOption('suspended')
    await expect.poll(ids).toEqual([])
    await page.getByLabel('Status', { exact: true }).selectOption('idle')
    const compare = page.getByRole('button', { name: 'Compare the two marked' })
    expect(await compare.isDisabled()).toBe(true)
    await page.getByLabel('Mark monday for a comparison').check()
    await page.getByLabel('Mark tuesday for a comparison').check()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await violations(page)).toEqual([])
    }
    await compare.click()
    const first = (of: typeof page) => of.locator('.first-difference').textContent()
    await expect.poll(() => first(page)).toMatch(/turn 2, Read: different outcome a result \| an error/)
    expect(await page.locator('.against-all tbody tr').count()).toBe(3)
    expect(await page.locator('.against-all tbody tr.first').count()).toBe(1)
    expect(await page.locator('.against-all tfoot .pair').nth(1).textContent()).toBe('01')
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await violations(page)).toEqual([])
    }
    await page.getByRole('button', { name: 'show it' }).click()
    await expect.poll(() => page.locator('.top-bar select[aria-label=Run] option:checked').textContent()).toBe('turn 2')
    await expect.poll(() => page.locator('.call-details h3').textContent()).toContain('Read')
    // the other way round, by a link
    const linked = await stage.open(`${server.url}&session=tuesday&with=monday`)
    await expect.poll(() => first(linked)).toMatch(/an error \| a result/)
    expect(stage.complaints).toEqual([])
    const lost = await stage.open(`${server.url}&session=nobody`)
    await expect.poll(() => lost.locator('.problem').textContent()).toContain('nobody')
  })
})
