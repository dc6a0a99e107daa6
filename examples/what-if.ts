import { createRecorder, type Frame, whatIf } from 'signalbox/inspect'
import { heldTool, heldTurn, settled } from 'signalbox/testing'

// a recording, here of a turn on a clock that stands still; yours comes from a file, by `readFrames`
const frames: Frame[] = []
const fetch = heldTool('Fetch')
const { add, clock, executor } = heldTurn([fetch.tool], { maxConcurrency: 4 })
createRecorder({ onFrame: (frame) => frames.push(frame), now: () => clock.now() }).watch(executor)
for (const id of ['a', 'b', 'c']) add(id, 'Fetch')
for (const id of ['a', 'b', 'c']) {
  clock.increment(200)
  fetch.run(id).finish()
  await settled()
}
for (const _ of executor.getCompletedResults());

const same = whatIf(frames)
console.log(`recorded ${same.recorded.makespanMs} ms, told again ${same.simulated.makespanMs} ms`)

const { simulated, moved, doubts } = whatIf(frames, { maxConcurrency: 2, safe: ({ name }) => name === 'Fetch' })
console.log(`two at once, and Fetch safe: ${simulated.makespanMs} ms`)
for (const { simulated: call, startsBy } of moved) {
  const why = call.waitedFor === undefined ? 'at once' : `after ${call.waitedFor.because} ${call.waitedFor.blockers}`
  console.log(`${call.id} starts at ${call.startedAt} ms (${startsBy} ms), ${why}`)
}
console.log(doubts.length === 0 ? 'no doubts' : doubts.join(' '))
