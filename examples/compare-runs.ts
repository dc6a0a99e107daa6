import { compareRuns, createRecorder, type Frame } from 'signalbox/inspect'
import { heldTool, heldTurn, settled } from 'signalbox/testing'

// two recordings of the same turn; yours come from files, by `readFrames`
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
  await settled()
  if (isBroken) bash.run('b').fail(new Error('exit code 1'))
  else bash.run('b').finish()
  await settled()
  if (!isBroken) read.run('c').finish()
  await settled()
  for (const _ of executor.getCompletedResults());
  return frames
}

const { calls, parted } = compareRuns(await recorded(100, false), await recorded(250, true))
console.log(`${parted} of ${calls.length} calls go another way`)
for (const { a, b, parting } of calls) {
  console.log(`${a?.id}: ends at ${a?.endedAt} and ${b?.endedAt} ms`)
  if (parting !== undefined) console.log(`   ${parting.what}: ${parting.a} | ${parting.b}`)
}
