import { createReadStream, createWriteStream } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { createRecorder, frameLine, readFrames } from 'signalbox/inspect'
import { checkRecording, flush, heldTool, heldTurn } from 'signalbox/testing'

const path = join(tmpdir(), 'signalbox-turn.jsonl')
const file = createWriteStream(path)
const read = heldTool('Read', { safe: true })
const { add, executor } = heldTurn([read.tool])
const { leave } = createRecorder({ onFrame: (frame) => file.write(frameLine(frame)) }).watch(executor)
add('a', 'Read')
read.run('a').finish()
await flush()
for (const _ of executor.getCompletedResults());
leave()
await finished(file.end())

const frames = []
for await (const frame of readFrames(createReadStream(path))) frames.push(frame)
console.log(checkRecording(frames)) // breaches, each with its run and frame
