import { createRecorder, type Frame, whatIfConversation } from 'signalbox/inspect'
import { flush, heldTool, heldTurn, simulatedClock } from 'signalbox/testing'

// a recording of two turns on a simulated clock; read yours from a file with `readFrames`
const frames: Frame[] = []
const clock = simulatedClock()
const recorder = createRecorder({ onFrame: (frame) => frames.push(frame), now: () => clock.now() })
for (const title of ['turn 1', 'turn 2']) {
  const edit = heldTool('Edit')
  const { add, executor } = heldTurn([edit.tool], { clock })
  recorder.watch(executor, { title })
  for (const path of ['a.ts', 'b.ts']) add(`${title} ${path}`, 'Edit', { path })
  for (const path of ['a.ts', 'b.ts']) {
    clock.increment(400)
    edit.run(`${title} ${path}`).finish()
    await flush()
    for (const _ of executor.getCompletedResults());
  }
  clock.increment(100)
}

const resources = ({ input }: { input: unknown }) => ({ writes: [`file:${(input as { path: string }).path}`] })
for (const changes of [{}, { resources }, { backgroundAfterMs: () => 150 }]) {
  const { turns, recordedMs, simulatedMs } = whatIfConversation(frames, changes)
  console.log(`${recordedMs} → ${simulatedMs} ms`)
  for (const { title, simulated } of turns) console.log(`  ${title}: ${simulated.startsAt} to ${simulated.endsAt} ms`)
}

for (const limits of [{ calls: 3 }, { durationMs: 1_000 }]) {
  const { limit, turns } = whatIfConversation(frames, { limits })
  const [turn] = turns.filter(({ run }) => run === limit?.run)
  console.log(`${limit?.limit}: ends at ${limit?.at} ms in ${turn?.title}, ${limit?.callsLeft} calls are not made`)
}
