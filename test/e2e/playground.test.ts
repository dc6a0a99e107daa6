import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join, resolve } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Scenario, scenarios } from '../../inspector-app/playground/scenarios.ts'
import type { Message, StreamingToolExecutor } from '../../src/index.ts'
import { staticFiles } from './static-files.ts'
import { shownOn, someLooks, useBrowser, violations } from './support.ts'

declare global {
  /** The objects that the page exposes to the console. */
  var playground: {
    readonly executor: StreamingToolExecutor | undefined
    readonly results: readonly Message[]
    readonly calls: readonly { id: string; about: string }[]
    readonly clock: { now(): number; readonly canStep: boolean }
    step(): void
    readonly scenario: { id: string }
  }
}

const stage = useBrowser()
let files: Awaited<ReturnType<typeof staticFiles>>
beforeAll(async () => {
  files = await staticFiles(join(stage.dist, 'playground'))
})
afterAll(() => files.close())

const open = async (scenario: string, more = '&paused', options = {}): Promise<Page> => {
  const page = await stage.open(`${files.url}#scenario=${scenario}${more}`, options)
  await page.locator('.watch').waitFor()
  return page
}

interface Report {
  readonly queue: string[]
  readonly shared: string[]
  readonly exclusive: string[]
  readonly tiles: string[]
  readonly executor: string
  readonly questions: string[]
}

/** The library's own state now, read through its public API, in the page's words. */
const saidBy = (page: Page): Promise<Report> =>
  page.evaluate(() => {
    const { executor, results } = globalThis.playground
    if (executor === undefined) throw new Error('there is no executor')
    const snapshot = executor.actor.getSnapshot()
    const { calls } = snapshot.context.run
    const keysOf = (ref: unknown): string[] =>
      (ref as { getSnapshot(): { _nodes: { key: string; order: number; parent?: unknown }[] } })
        .getSnapshot()
        ._nodes.filter(({ parent }) => parent !== undefined)
        .sort((a, b) => a.order - b.order)
        .map(({ key }) => key)
    type Known = (typeof calls)[number]
    const labelOf = ({ id, name }: Known): string =>
      `${name}(${globalThis.playground.calls.find((call) => call.id === id)?.about})`
    const labels = new Map(calls.map((call) => [call.id, labelOf(call)]))
    const why = (call: Known): string => {
      const admission = executor.explain(call.id)
      if (admission === undefined || admission.ok) return ''
      const blockers = calls.filter(({ id }) => admission.blockers.includes(id))
      const listed = blockers.map(({ index, name }) => `#${index + 1} ${name}`).join(', ')
      const names = listed.replace(/, ([^,]*)$/, ' and $1')
      const words: Record<string, string> = {
        held: 'waits until the reply has gone past it',
        exclusiveRunning: `waits for ${names}, which must run alone`,
        behindUnsafe: `waits behind ${names}, which must run alone`,
        waitsForRunning: `must run alone, waits for ${names}`,
      }
      return words[admission.because] ?? admission.because
    }
    const isGivenUp = ({ id }: Known): boolean => {
      const admission = executor.explain(id)
      return admission?.ok === false && admission.because === 'discarded'
    }
    // a body that runs in this process is not shown as a phase of its own
    const phaseOf = ({ ref }: Known): string =>
      keysOf(ref)
        .slice(1)
        .filter((key) => key !== 'here')
        .join(' ▸ ')
    const wagon = (call: Known): string => `${call.index + 1} ${labelOf(call)}${phaseOf(call)}`
    const stages: Record<string, string> = { queued: 'waits', held: 'waits', completed: 'finished, held for order' }
    const outcome = (call: Known): string => {
      const context = call.ref?.getSnapshot().context as { ending?: { by: string } } | undefined
      if (context?.ending?.by === 'abort') return 'stopped'
      const left = results.flatMap((message) =>
        message.type === 'user' && typeof message.message.content !== 'string' ? message.message.content : [],
      ) as { tool_use_id?: string; is_error?: boolean }[]
      const isError = left.find(({ tool_use_id }) => tool_use_id === call.id)?.is_error === true
      return isError ? 'handed over, an error' : 'handed over'
    }
    const executing = calls.filter(({ stage }) => stage === 'executing')
    return {
      queue: calls
        .filter((call) => executor.explain(call.id)?.ok === false && !isGivenUp(call))
        .map((call) => `${call.index + 1}${labelOf(call)}${why(call)}`),
      shared: executing.filter(({ isSafe }) => isSafe).map(wagon),
      exclusive: executing.filter(({ isSafe }) => !isSafe).map(wagon),
      tiles: calls.map((call) => {
        if (isGivenUp(call)) return `${call.index + 1} ${labelOf(call)}: discarded`
        const running = call.isSafe ? 'runs, shared' : 'runs alone'
        const word =
          call.stage === 'executing' ? running : call.stage === 'yielded' ? outcome(call) : stages[call.stage]
        return `${call.index + 1} ${labelOf(call)}: ${word}`
      }),
      executor: `Executor, active: ${keysOf(executor.actor).join(', ')}`,
      questions: executor.openQuestions().map(({ toolUseID }) => labels.get(toolUseID) as string),
    }
  })

/** The same, read from the page. */
async function shown(page: Page): Promise<Report> {
  const { call: _, ...rest } = await shownOn(page)
  return { ...rest, questions: await page.locator('.question .link').allTextContents() }
}

/** Page and library agree as soon as the page has drawn. */
const expectAgreement = async (page: Page): Promise<Report> => {
  let said = await saidBy(page)
  const compare = async (): Promise<string> => {
    const seen = await shown(page)
    said = await saidBy(page)
    // a run is shown from its first call on
    if (said.tiles.length === 0) return 'agree'
    return isDeepStrictEqual(seen, said) ? 'agree' : `${JSON.stringify(seen)} is shown, ${JSON.stringify(said)} is so`
  }
  await expect.poll(compare, { interval: 20 }).toBe('agree')
  return said
}

/** Steps the page's clock from event to event and compares at each. */
async function playThrough(page: Page): Promise<Report[]> {
  const reports: Report[] = []
  const step = (): Promise<boolean> =>
    page.evaluate(() => {
      const { clock } = globalThis.playground
      if (!clock.canStep) return false
      globalThis.playground.step()
      return true
    })
  while (reports.length < 40 && (await step())) reports.push(await expectAgreement(page))
  return reports
}

const told = (page: Page): Promise<string[]> => page.locator('.narration li span').allTextContents()
const resultIds = (page: Page): Promise<string[]> =>
  page.evaluate(() =>
    globalThis.playground.results.flatMap((message) =>
      message.type === 'user' && typeof message.message.content !== 'string'
        ? message.message.content.flatMap((block) => ('tool_use_id' in block ? [String(block.tool_use_id)] : []))
        : [],
    ),
  )
const ids = ({ calls }: Scenario): string[] => calls.map((_, index) => `toolu_0${index + 1}`)

describe('the playground', () => {
  it('shows what the library reports at every step of each scenario, and one result per call, in order', async () => {
    const page = await open('mixed')
    const seen: Record<string, Report[]> = {}
    for (const scenario of scenarios) {
      if (scenario.id === 'permission' || scenario.id === 'fallback') continue
      await page.locator('.chip', { hasText: scenario.title }).click()
      await expect.poll(() => page.locator('.watch').textContent()).toBe(scenario.watch)
      const reports = await playThrough(page)
      expect(await resultIds(page), scenario.id).toEqual(ids(scenario))
      // two lists of the same story, both to its end
      const [newest] = await told(page)
      await expect.poll(() => page.locator('.story .sentences span').allTextContents()).toContain(newest)
      expect(reports.length, scenario.id).toBeGreaterThan(scenario.calls.length)
      seen[scenario.id] = reports
    }
    const endingsOf = (id: string) => seen[id]?.at(-1)?.tiles.map((tile) => tile.split(': ')[1])
    expect(seen.mixed?.some(({ shared }) => shared.length === 2)).toBe(true)
    expect(seen.mixed?.some(({ queue }) => queue.length === 4)).toBe(true)
    expect(endingsOf('mixed')).toEqual(Array(6).fill('handed over'))
    expect(endingsOf('sibling')).toEqual(['handed over', 'handed over, an error', 'stopped', 'stopped', 'stopped'])
    expect(endingsOf('interrupt')).toEqual(['stopped', 'handed over', 'stopped', 'handed over'])
    const heldAtOnce = seen['slow-first']?.map(({ tiles }) => tiles.filter((tile) => tile.endsWith('for order')).length)
    expect(Math.max(...(heldAtOnce ?? []))).toBe(3)
    expect(stage.complaints).toEqual([])
  })

  it('L5 A5 shows a fallback: no result of the first run is handed over, all of the second are', async () => {
    const page = await open('fallback')
    const reports = await playThrough(page)
    expect(reports.some(({ executor }) => executor.includes('discarded'))).toBe(true)
    expect(await resultIds(page)).toEqual(['toolu_04', 'toolu_05'])
    const runs = page.getByRole('combobox', { name: 'Run' })
    expect(await runs.locator('option').allTextContents()).toEqual(['attempt 1', 'attempt 2'])
    await runs.selectOption({ index: 0 })
    await expect.poll(() => page.locator('.results em').textContent()).toContain('0 of 3')
    expect(stage.complaints).toEqual([])
  })

  it('P6 a call that asks waits for an answer, and so do the calls behind it', async () => {
    const page = await open('permission')
    for (const answer of ['Allow', 'Deny']) {
      await page.getByRole('button', { name: 'Restart' }).click()
      await playThrough(page)
      const waiting = await expectAgreement(page)
      expect(waiting.questions).toEqual(['Fetch(example.com)'])
      expect(waiting.queue).toEqual(['3Write(fix.ts)must run alone, waits for #1 Fetch'])
      await expect
        .poll(() => told(page))
        .toContain(
          '#1 Fetch(example.com) asks for permission, because the mode is default. It counts as executing until you answer.',
        )
      await page.getByRole('button', { name: answer, exact: true }).click()
      await expect.poll(() => page.locator('.question').count()).toBe(0)
      const end = (await playThrough(page)).at(-1)
      expect(end?.tiles).toEqual([
        `1 Fetch(example.com): handed over${answer === 'Allow' ? '' : ', an error'}`,
        '2 Read(a.ts): handed over',
        '3 Write(fix.ts): handed over',
      ])
    }
  })

  it('accepts changed classes, durations and added calls', async () => {
    const page = await open('mixed')
    const control = (name: string) => page.getByLabel(name, { exact: true })
    await control('Write(fix.ts) is safe').uncheck()
    await control('Write(fix.ts) is safe').check()
    await control('Duration of Read(a.ts)').fill('500')
    for (let at = 0; at < 4; at++) await page.getByRole('button', { name: 'Step' }).click()
    // 0, 300, 500 (a.ts has ended), 700
    const report = await expectAgreement(page)
    expect(report.shared.map((wagon) => wagon.slice(0, 8))).toEqual(['2 Read(b', '3 Write('])
    expect(report.tiles[0]).toBe('1 Read(a.ts): handed over')
    expect(await control('Write(fix.ts) is safe').isDisabled()).toBe(true)
    await page.getByRole('button', { name: 'Add a call: Bash' }).click()
    await page.getByRole('button', { name: 'Add a call: Read' }).click()
    const added = await expectAgreement(page)
    expect(added.queue.map((row) => row.replace(/\(.*/, ''))).toEqual(['4Bash', '5Read'])
    // a slider works on a running call too
    await control('Duration of Read(b.ts)').fill('8000')
    await control('Duration of Write(fix.ts)').fill('200')
    await page.getByRole('button', { name: 'Step' }).click()
    expect((await expectAgreement(page)).tiles[2]).toContain('held for order')
    expect(stage.complaints).toEqual([])
  })

  it('A2 A3 A4 A5 fails, interrupts, aborts and discards, and describes the outcome', async () => {
    const page = await open('interrupt')
    const press = (name: string) => page.getByRole('button', { name, exact: true }).click()
    for (let at = 0; at < 4; at++) await press('Step')
    await press('Interrupt')
    const interrupted = await expectAgreement(page)
    expect(interrupted.tiles.map((tile) => tile.split(': ')[1])).toEqual([
      'stopped',
      'runs, shared',
      'finished, held for order',
      'waits',
    ])
    const interruption = /^Interrupted: #1 .* and #3 .* must stop; #2 .* and #4 .* may finish\.$/
    await expect.poll(async () => (await told(page)).some((line) => interruption.test(line))).toBe(true)
    await press('Abort')
    await expect.poll(async () => (await told(page)).includes('Aborted: every unfinished call stops.')).toBe(true)
    await playThrough(page)
    expect(await resultIds(page)).toHaveLength(4)

    await page.getByText('Failing shell').click()
    for (let at = 0; at < 3; at++) await press('Step')
    await press('Fail Read(a.ts)')
    expect((await expectAgreement(page)).executor).toContain('clear')
    await press('Fail the shell')
    await expect.poll(() => told(page)).toContain('#2 Bash(git diff) failed, and its error cancels its siblings.')
    expect((await expectAgreement(page)).executor).toContain('siblingErrored')
    await press('Restart')
    await press('Step')
    await press('Discard')
    await expect.poll(() => told(page)).toContain('The run is discarded. No more results are handed over.')
    expect((await expectAgreement(page)).executor).toContain('discarded')
    expect(await page.getByRole('button', { name: 'Add a call: Read' }).isDisabled()).toBe(true)
    expect(await resultIds(page)).toEqual([])
    expect(stage.complaints).toEqual([])
  })

  it('runs by itself at the chosen speed, and sends requests only to its own host', async () => {
    const page = await open('slow-first', '')
    const asked: string[] = []
    page.on('request', (request) => asked.push(request.url()))
    await page.reload()
    await page.getByLabel('Speed of the clock').fill('4')
    await expect.poll(() => resultIds(page)).toEqual(['toolu_01', 'toolu_02', 'toolu_03', 'toolu_04'])
    await expectAgreement(page)
    expect(await page.evaluate(() => globalThis.playground.clock.now())).toBe(6_000)
    expect(asked.length).toBeGreaterThan(2)
    expect(asked.filter((url) => !url.startsWith(files.url))).toEqual([])
    expect(new URL(page.url()).hash).toBe('#scenario=slow-first')
  })

  it.each([
    [900, 'light'],
    [400, 'dark'],
  ] as const)('fits %d pixels (%s), each control with a name, reachable by keys', async (width, colorScheme) => {
    const page = await open('permission', '&paused', { viewport: { width, height: 900 }, colorScheme })
    await playThrough(page)
    expect(await page.evaluate(() => document.documentElement.scrollWidth - innerWidth)).toBeLessThanOrEqual(0)
    const controls = page.locator('.playground').locator('button, input')
    const unnamed = await controls.evaluateAll((elements) =>
      elements
        .filter((element) => {
          const { labels } = element as HTMLInputElement
          const name = element.getAttribute('aria-label') ?? element.textContent ?? ''
          return name.trim() === '' && (labels?.[0]?.textContent ?? '').trim() === ''
        })
        .map((element) => element.outerHTML),
    )
    expect(unnamed).toEqual([])
    const reachable = await controls.evaluateAll((elements) =>
      elements.every((element) => element.matches('[tabindex="-1"]') === false),
    )
    expect(reachable).toBe(true)
    // the arrow key selects the previous scenario, as in a radio group
    await page.getByRole('radio', { name: 'Permission' }).focus()
    await page.keyboard.press('ArrowUp')
    await expect.poll(() => page.evaluate(() => globalThis.playground.scenario.id)).toBe('slow-first')
  })
})

describe('everybody can use the playground', () => {
  it.each(someLooks)('axe finds nothing, $colorScheme, $viewport.width pixels wide', async (look) => {
    const page = await open('mixed', '&paused', look)
    await playThrough(page)
    const hidden = await page.locator('.narration ol').evaluate((list) => list.scrollHeight - list.clientHeight)
    // on a phone, the page scrolls
    if (look.viewport.width > 1_000) expect(hidden).toBeGreaterThan(0)
    expect(await violations(page)).toEqual([])
  })
})

describe('npm run dev', () => {
  it('prints the address of the playground, and keeps running without a browser', async () => {
    const script = resolve(import.meta.dirname, '../../scripts/dev.mjs')
    const child = spawn(process.execPath, [script, '--open'], {
      env: { PATH: '/nowhere', HOME: stage.folder },
      stdio: ['ignore', 'pipe', 'ignore'],
    })
    try {
      const url = await new Promise<string>((found, lost) => {
        let text = ''
        child.stdout.on('data', (chunk) => {
          text += chunk
          const match = /http:\S+/.exec(text)
          if (match !== null) found(match[0])
        })
        child.once('exit', () => lost(new Error(`it ended: ${text}`)))
      })
      const page = await stage.open(`${url}#scenario=mixed&paused`)
      await page.locator('.playground .planned').first().waitFor()
      expect(child.exitCode).toBeNull()
    } finally {
      child.kill()
      await once(child, 'exit')
    }
  })
})
