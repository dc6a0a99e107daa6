import { createRecorder, type Frame, whatIf } from 'signalbox/inspect'
import { flush, heldTool, heldTurn } from 'signalbox/testing'

// a recording, here of a turn on a simulated clock; read yours from a file with `readFrames`
const frames: Frame[] = []
const fetch = heldTool('Fetch')
const { add, clock, executor } = heldTurn([fetch.tool], { maxConcurrency: 4 })
createRecorder({ onFrame: (frame) => frames.push(frame), now: () => clock.now() }).watch(executor)
for (const id of ['a', 'b', 'c']) add(id, 'Fetch')
for (const id of ['a', 'b', 'c']) {
  clock.increment(200)
  fetch.run(id).finish()
  await flush()
}
for (const _ of executor.getCompletedResults());

const same = whatIf(frames)
console.log(`recorded ${same.recorded.makespanMs} ms, simulated ${same.simulated.makespanMs} ms`)

const { simulated, moved, caveats } = whatIf(frames, { maxConcurrency: 2, safe: ({ name }) => name === 'Fetch' })
console.log(`two at once, and Fetch safe: ${simulated.makespanMs} ms`)
for (const { simulated: call, startsBy } of moved) {
  const why = call.waitedFor === undefined ? 'at once' : `after ${call.waitedFor.because} ${call.waitedFor.blockers}`
  console.log(`${call.id} starts at ${call.startedAt} ms (${startsBy} ms), ${why}`)
}
console.log(caveats.length === 0 ? 'no caveats' : caveats.join(' '))
