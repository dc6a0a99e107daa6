import { compareConversations, createRecorder, type Frame } from 'signalbox/inspect'
import { flush, heldTool, heldTurn, simulatedClock } from 'signalbox/testing'

// two recordings of a conversation of two turns; read yours from files with `readFrames`
async function recorded(isBroken: boolean): Promise<Frame[]> {
  const frames: Frame[] = []
  const clock = simulatedClock()
  const recorder = createRecorder({ onFrame: (frame) => frames.push(frame), now: () => clock.now() })
  for (const title of ['turn 1', 'turn 2']) {
    const read = heldTool('Read', { safe: true })
    const { add, executor } = heldTurn([read.tool], { clock })
    recorder.watch(executor, { title })
    add(`${title} a`, 'Read')
    clock.increment(100)
    if (isBroken && title === 'turn 2') read.run(`${title} a`).fail(new Error('no such file'))
    else read.run(`${title} a`).finish()
    await flush()
    for (const _ of executor.getCompletedResults());
  }
  return frames
}

const { turns, first, a, b } = compareConversations(await recorded(false), await recorded(true))
console.log(`${a.calls} and ${b.calls} calls, ${a.failed} and ${b.failed} failed, ${a.ms} and ${b.ms} ms`)
const { what, call, a: here, b: there } = turns[first]?.difference ?? {}
console.log(`first difference: ${turns[first]?.a?.title}, ${call}: ${what}: ${here} | ${there}`)
