import { compareRuns, createRecorder, type Frame } from 'signalbox/inspect'
import { flush, heldTool, heldTurn } from 'signalbox/testing'

// two recordings of the same turn; read yours from files with `readFrames`
async function recorded(bodyMs: number, isBroken: boolean): Promise<Frame[]> {
  const frames: Frame[] = []
  const [read, bash] = [heldTool('Read', { safe: true }), heldTool('Bash', { cancelsSiblingsOnError: true })]
  const { add, clock, executor } = heldTurn([read.tool, bash.tool])
  createRecorder({ onFrame: (frame) => frames.push(frame), now: () => clock.now() }).watch(executor)
  add('a', 'Read')
  add('b', 'Bash')
  add('c', 'Read')
  clock.increment(bodyMs)
  read.run('a').finish()
  await flush()
  if (isBroken) bash.run('b').fail(new Error('exit code 1'))
  else bash.run('b').finish()
  await flush()
  if (!isBroken) read.run('c').finish()
  await flush()
  for (const _ of executor.getCompletedResults());
  return frames
}

const { calls, differences } = compareRuns(await recorded(100, false), await recorded(250, true))
console.log(`${differences} of ${calls.length} calls differ`)
for (const { a, b, difference } of calls) {
  console.log(`${a?.id}: ends at ${a?.endedAt} and ${b?.endedAt} ms`)
  if (difference !== undefined) console.log(`   ${difference.what}: ${difference.a} | ${difference.b}`)
}
