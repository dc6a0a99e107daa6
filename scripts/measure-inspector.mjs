import { chromium } from 'playwright-core'
import { z } from 'zod'
import { createAssistantMessage, defineTool, StreamingToolExecutor } from '../dist/src/index.js'
import { createRecorder, frameLine } from '../dist/src/inspect/index.js'
import { serveInspector } from '../dist/src/inspect/server/index.js'
import { chromiumArguments, findChromium } from './find-chromium.mjs'

// Measures the cost of watching: per call in the executor, per animation frame in the page. Needs `npm run build`.
const calls = 1_000
const framesPerSecond = 20_000
const seconds = 5

const allow = async () => ({ behavior: 'allow' })
const read = (call) =>
  defineTool({ name: 'Read', inputSchema: z.object({ file_path: z.string() }), isConcurrencySafe: () => true, call })

const watchers = {
  'not watched': () => undefined,
  'a no-op observer': (executor) => executor.actor.system.inspect(() => undefined),
  'the recorder': (executor) => createRecorder({ onFrame: () => undefined }).watch(executor),
  'the recorder, written as lines': (executor) =>
    createRecorder({ onFrame: (frame) => frameLine(frame) }).watch(executor),
}

console.log(`a turn of ${calls} calls, median of 21, per call`)
for (const [name, watch] of Object.entries(watchers)) {
  for (let warm = 0; warm < 8; warm++) await turn(watch)
  const times = []
  for (let round = 0; round < 21; round++) times.push(await turn(watch))
  times.sort((a, b) => a - b)
  console.log(`  ${name.padEnd(32)} ${((times[10] / calls) * 1_000).toFixed(0).padStart(5)} µs`)
}
await measurePage()

async function turn(watch) {
  const executor = new StreamingToolExecutor([read(async () => ({ data: 'text' }))], allow)
  watch(executor)
  const message = createAssistantMessage([])
  const start = performance.now()
  for (let index = 0; index < calls; index++) {
    executor.addTool({ type: 'tool_use', id: `c${index}`, name: 'Read', input: { file_path: `f${index}` } }, message)
  }
  for await (const _ of executor.getRemainingResults());
  return performance.now() - start
}

async function measurePage() {
  const executor = new StreamingToolExecutor([read(() => new Promise(() => undefined))], allow)
  const message = createAssistantMessage([])
  for (let index = 0; index < calls; index++) {
    executor.addTool({ type: 'tool_use', id: `c${index}`, name: 'Read', input: { file_path: `f${index}` } }, message)
  }
  const server = await serveInspector(executor)
  const browser = await chromium.launch({ executablePath: findChromium(), args: chromiumArguments })
  try {
    const page = await browser.newPage({ viewport: { width: 1440, height: 900 } })
    await page.goto(server.url)
    await page.locator('.chart.call .edge').first().waitFor()
    const shown = page.evaluate(countPictures, seconds * 1_000)
    const isOver = shown.then(() => true)
    let sent = 0
    const start = performance.now()
    // each of these events makes two frames: the event, and the guards that were evaluated
    while (!(await Promise.race([isOver, new Promise((resolve) => setTimeout(resolve, 8))]))) {
      const due = ((performance.now() - start) / 1_000) * (framesPerSecond / 2)
      for (; sent < due; sent++) executor.actor.send({ type: 'results.take' })
    }
    const { deltas, seen } = await shown
    deltas.sort((a, b) => a - b)
    const at = (part) => deltas[Math.floor(deltas.length * part)].toFixed(1)
    console.log(
      `the page with ${calls} calls while ${Math.round((sent * 2) / seconds).toLocaleString('en')} frames per second arrive`,
    )
    console.log(
      `  ${(deltas.length / seconds).toFixed(0)} animation frames per second; interval: ${at(0.5)} ms median, ${at(0.95)} ms at 95 %, ${at(0.999)} ms at most`,
    )
    console.log(`  ${seen.toLocaleString('en')} frames received by the page`)
  } finally {
    await browser.close()
    await server.close()
  }
}

function countPictures(ms) {
  return new Promise((resolve) => {
    const deltas = []
    const start = performance.now()
    let before = start
    requestAnimationFrame(function next(now) {
      deltas.push(now - before)
      before = now
      if (now - start < ms) return requestAnimationFrame(next)
      resolve({ deltas, seen: Number(document.querySelector('input[type=range]').max) })
    })
  })
}
