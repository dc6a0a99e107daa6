import { writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { coverage, flush, heldTool, heldTurn } from 'signalbox/testing'

const taken = coverage() // one for the whole suite
const read = heldTool('Read', { safe: true })
const { add, executor } = heldTurn([read.tool])
taken.watch(executor) // each executor and each query
add('a', 'Read')
read.run('a').finish()
await flush()

const [call, ...never] = taken.report().split('\n')
console.log(call)
console.log(never[0])
writeFileSync(join(tmpdir(), 'signalbox-coverage.json'), taken.save())
