import { writeFile } from 'node:fs/promises'
import { createRecorder, frameLine } from '../dist/src/inspect/index.js'
import { flush, heldTool, heldTurn } from '../dist/src/testing/index.js'

const asked = [
  { name: 'Read', of: 'src/a.ts', ms: 240 },
  { name: 'Grep', of: 'TODO', ms: 420 },
  { name: 'Write', of: 'src/a.ts', ms: 160 },
  { name: 'Fetch', of: 'example.com', ms: 380 },
  { name: 'Read', of: 'docs/b.md', ms: 300 },
  { name: 'Bash', of: 'npm test', ms: 520 },
]

/** Writes the recording of a whole turn, on its own clock. `changes` overrides properties of calls, by index. */
export async function toldTurn(file, changes = {}) {
  const calls = asked.map((call, at) => ({ ...call, ...changes[at], id: `toolu_${at + 1}` }))
  const tools = new Map(
    asked.map(({ name }) => [name, heldTool(name, { safe: /Read|Grep/.test(name), describe: ({ of }) => of })]),
  )
  const { add, clock, executor } = heldTurn([...tools.values()].map(({ tool }) => tool))
  const frames = []
  const onFrame = (frame) => frames.push(frame)
  createRecorder({ onFrame, now: () => clock.now(), epoch: 0 }).watch(executor, { title: 'turn 1' })
  for (const { id, name, of } of calls) {
    add(id, name, { of })
    clock.increment(20)
  }
  const running = new Map()
  for (let left = calls.length; left > 0; left--) {
    for (const call of calls.filter(({ id, name }) => tools.get(name).started.includes(id))) {
      if (!running.has(call)) running.set(call, clock.now() + call.ms)
    }
    const [call, end] = [...running].filter(([{ isOver }]) => !isOver).sort((a, b) => a[1] - b[1])[0]
    clock.increment(Math.max(0, end - clock.now()))
    const run = tools.get(call.name).run(call.id)
    if (call.problem === undefined) run.finish()
    else run.fail(new Error(call.problem))
    call.isOver = true
    await flush()
    for (const _ of executor.getCompletedResults());
  }
  await writeFile(file, frames.map(frameLine).join(''))
}
