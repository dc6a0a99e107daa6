import type { CDPSession, Page } from 'playwright-core'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { createAssistantMessage, defineTool, query, StreamingToolExecutor } from '../../src/index.ts'
import { createRecorder } from '../../src/inspect/index.ts'
import { scriptedModel } from '../../src/query/scripted/index.ts'
import { shownBy, shownOn, useBrowser } from './support.ts'

const stage = useBrowser()
const isFull = process.env.SIGNALBOX_FULL !== undefined
const allow = async () => ({ behavior: 'allow' }) as const
const inputSchema = z.looseObject({})

const read = defineTool({
  name: 'Read',
  inputSchema,
  isConcurrencySafe: () => true,
  describe: ({ path }) => String(path),
  call: ({ isHeld }) => (isHeld === true ? new Promise(() => undefined) : Promise.resolve({ data: 'text' })),
})
const grep = defineTool({
  name: 'Grep',
  inputSchema,
  isConcurrencySafe: () => true,
  describe: ({ path }) => String(path),
  call: async () => {
    throw new Error('no such file')
  },
})
const write = defineTool({
  name: 'Write',
  inputSchema,
  describe: ({ path }) => String(path),
  call: async () => ({ data: 'ok' }),
})

/** A turn of nine calls; `isHeld`: its fourth call does not end, so the calls after it are held or wait. */
function startTurn(number: number, isHeld = false) {
  const executor = new StreamingToolExecutor([read, grep, write], allow)
  const message = createAssistantMessage([])
  const play = (): void => {
    for (let index = 0; index < 9; index++) {
      const name = index === 5 ? 'Grep' : index === 7 ? 'Write' : 'Read'
      const input = { path: `${number}-${index}`, isHeld: isHeld && index === 3 }
      executor.addTool({ type: 'tool_use', id: `t${number}c${index}`, name, input }, message)
    }
  }
  const results = async (): Promise<boolean[]> => {
    const errors: boolean[] = []
    for await (const { message: given } of executor.getRemainingResults()) {
      const [block] = given?.type === 'user' && Array.isArray(given.message.content) ? given.message.content : []
      if (typeof block === 'object' && block.type === 'tool_result') errors.push(block.is_error === true)
    }
    return errors
  }
  return { executor, play, results }
}

/** How many frames such a turn makes. */
async function framesPerTurn(): Promise<number> {
  let frames = 0
  const { executor, play, results } = startTurn(0)
  const { leave } = createRecorder({ onFrame: () => void frames++ }).watch(executor)
  play()
  await results()
  leave()
  return frames
}

/** Notes the longest time between two animation frames and the longest task. */
const watchFreezes = (page: Page) =>
  page.evaluate(() => {
    const seen = { gaps: [] as number[], tasks: [] as number[] }
    Object.assign(globalThis, { freezes: seen })
    new PerformanceObserver((list) => seen.tasks.push(...list.getEntries().map(({ duration }) => duration))).observe({
      type: 'longtask',
    })
    let before = performance.now()
    requestAnimationFrame(function next(now) {
      seen.gaps.push(now - before)
      before = now
      requestAnimationFrame(next)
    })
  })

interface TraceEvent {
  readonly name: string
  readonly ph: string
  readonly pid: number
  readonly tid: number
  /** The time on the processor, in microseconds. */
  readonly tdur?: number
  readonly args: { readonly name?: string }
}

/** How long each task of the page took on the processor, in milliseconds: a loaded machine freezes any page. */
function taskTimes(trace: Buffer): number[] {
  const { traceEvents } = JSON.parse(trace.toString()) as { traceEvents: TraceEvent[] }
  const isOfPage = new Set(
    traceEvents.flatMap(({ name, args, pid, tid }) =>
      name === 'thread_name' && args.name === 'CrRendererMain' ? [`${pid} ${tid}`] : [],
    ),
  )
  return traceEvents.flatMap(({ name, ph, pid, tid, tdur = 0 }) =>
    ph === 'X' && name.endsWith('RunTask') && isOfPage.has(`${pid} ${tid}`) ? [tdur / 1_000] : [],
  )
}

const rail = (page: Page) =>
  page.locator('.conversation .turn').evaluateAll((turns) =>
    turns.map((turn) => ({
      labels: [...turn.querySelectorAll('.label')].map((each) => each.textContent?.trim().replace(/\s+/g, ' ')),
      tones: [...turn.querySelectorAll('.dot')].map((each) => each.className.replace('dot ', '')),
    })),
  )

describe('up to 20,000 frames per second', () => {
  it('Y1 leave the page with what the library reports, in every turn that is still shown and in the last one', async () => {
    const seconds = isFull ? 60 : 2
    const perTurn = await framesPerTurn()
    const server = await stage.serve([], { record: 'always' })
    const page = await stage.open(server.url)
    await page.locator('.welcome').waitFor()
    await watchFreezes(page)
    if (isFull) await stage.browser.startTracing(page, { categories: ['toplevel'] })
    const ended: boolean[][] = []
    const began = performance.now()
    for (let made = 0; performance.now() - began < seconds * 1_000; made++) {
      const { executor, play, results } = startTurn(made)
      const leave = server.add(executor, { title: `turn ${made}` })
      play()
      ended.push(await results())
      leave()
      const isAhead = () => made * perTurn > ((performance.now() - began) / 1_000) * 20_000
      // the server sends between two tasks
      do await new Promise((resolve) => setTimeout(resolve, isAhead() ? 4 : 0))
      while (isAhead())
    }
    const last = startTurn(ended.length, true)
    server.add(last.executor, { title: 'last' })
    const took = performance.now() - began
    last.play()
    await expect
      .poll(() => shownOn(page), { timeout: 150_000 })
      .toMatchObject({
        shared: [`4 Read(${ended.length}-3)calling`],
        exclusive: [],
        executor: shownBy(last.executor).executor,
      })
    const plain = (tile: string): string => tile.replace(/\(.*?\)/, '')
    expect((await shownOn(page)).tiles.map(plain)).toEqual(shownBy(last.executor).tiles)
    const shown = (await rail(page)).slice(0, -1)
    expect(shown.length).toBeGreaterThan(5)
    expect(shown).toEqual(
      ended.slice(-shown.length).map((errors, at) => {
        const turn = ended.length - shown.length + at
        return {
          labels: errors.map(
            (_, index) => `#${index + 1} ${index === 5 ? 'Grep' : index === 7 ? 'Write' : 'Read'}(${turn}-${index})`,
          ),
          tones: errors.map((isError) => (isError ? 'error' : 'ok')),
        }
      }),
    )
    expect(await page.locator('.gap').count()).toBe(0)
    const { gaps, tasks } = await page.evaluate(
      () => (globalThis as unknown as { freezes: { gaps: number[]; tasks: number[] } }).freezes,
    )
    gaps.sort((a, b) => a - b)
    const [frames] = (await page.locator('.clock span').allTextContents()).map((text) => text.split(' / ')[1])
    console.log(
      `${perTurn} frames per turn, ${frames} frames in ${(took / 1_000).toFixed(1)} s; between two pictures: median ${gaps[gaps.length >> 1]?.toFixed(0)} ms, ` +
        `99 % ${gaps[Math.floor(gaps.length * 0.99)]?.toFixed(0)} ms, most ${gaps.at(-1)?.toFixed(0)} ms, ` +
        `over 200 ms: ${gaps.filter((gap) => gap > 200).length} of ${gaps.length}; longest task ${Math.max(0, ...tasks).toFixed(0)} ms`,
    )
    if (isFull) {
      const times = taskTimes(await stage.browser.stopTracing())
      const longest = Math.max(...times)
      console.log(`${times.length} tasks; the longest took ${longest.toFixed(0)} ms on the processor`)
      // without tasks, the trace says nothing
      expect(times.length).toBeGreaterThan(seconds * 100)
      expect(longest).toBeLessThanOrEqual(200)
    }
    expect(stage.complaints).toEqual([])
  }, 300_000)
})

const heapOf = async (session: CDPSession): Promise<number> => {
  await session.send('HeapProfiler.collectGarbage')
  await session.send('HeapProfiler.collectGarbage')
  return (await session.send('Runtime.getHeapUsage')).usedSize
}

describe.runIf(isFull)('a long conversation', () => {
  it('takes at most one and a half times as much memory after 5,000 turns as after 1,000', async () => {
    const server = await stage.serve([], { record: 'always' })
    const page = await stage.open(server.url)
    const session = await page.context().newCDPSession(page)
    const heaps: number[] = []
    const paths = ['a.ts', 'b.ts']
    // one query of 5,000 turns would mostly measure the host, which sends the whole conversation with each turn
    for (let queries = 1; queries <= 5; queries++) {
      const replies = Array.from({ length: 1_000 }, () => [
        { text: 'I look at two files and write one.' },
        ...paths.map((path) => ({ call: 'Read', input: { path } })),
        { call: 'Write', input: { path: 'c.ts' } },
      ])
      const run = query({
        messages: 'Go on.',
        tools: [read, write],
        model: scriptedModel([...replies, 'Done.']),
        maxTurns: 1_001,
        canUseTool: () => ({ behavior: 'allow' }),
      })
      server.add(run)
      for await (const { type } of run) if (type === 'user') await new Promise((resolve) => setTimeout(resolve, 0))
      expect(run.result?.reason).toBe('completed')
      await expect.poll(() => page.locator('.source').textContent()).toBe('live')
      let before = ''
      // until the page has everything
      await expect
        .poll(
          async () => {
            const now = (await page.locator('.clock span').textContent()) ?? ''
            const isSame = now === before
            before = now
            return isSame
          },
          { timeout: 60_000, interval: 1_000 },
        )
        .toBe(true)
      heaps.push(await heapOf(session))
      console.log(`after ${queries},000 turns: ${before} frames, ${((heaps.at(-1) ?? 0) / 1e6).toFixed(1)} MB`)
    }
    expect((heaps.at(-1) ?? 0) / (heaps[0] ?? 0)).toBeLessThanOrEqual(1.5)
  }, 600_000)
})
