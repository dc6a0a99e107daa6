import { flush, heldTool, heldTurn } from 'signalbox/testing'

const read = heldTool('Read', { safe: true })
const slow = heldTool('Slow', { safe: true, timeout: 30_000 })
const { add, clock, executor } = heldTurn([read.tool, slow.tool])
const results = () =>
  [...executor.getCompletedResults()].map(({ message }) => message.type === 'user' && message.toolUseResult)

add('a', 'Slow')
add('b', 'Read')
read.run('b').finish({ data: 'the text' })
await flush() // everything that can happen by itself has happened
console.log(results()) // b is done, and waits for a
clock.increment(30_000) // nobody sleeps: the time is over
clock.increment(5_000) // and so is the grace of a body that does not stop
console.log(results())
