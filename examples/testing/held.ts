import { flush, heldTool, heldTurn } from 'signalbox/testing'

const read = heldTool('Read', { safe: true })
const slow = heldTool('Slow', { safe: true, timeout: 30_000 })
const { add, clock, executor } = heldTurn([read.tool, slow.tool])
const results = () =>
  [...executor.getCompletedResults()].map(({ message }) => message.type === 'user' && message.toolUseResult)

add('a', 'Slow')
add('b', 'Read')
read.run('b').finish({ data: 'the text' })
await flush() // waits until nothing more can happen by itself
console.log(results()) // b is completed; its result waits for a
clock.increment(30_000) // simulated time: the timeout has passed
clock.increment(5_000) // the grace period of a body that does not stop has passed too
console.log(results())
