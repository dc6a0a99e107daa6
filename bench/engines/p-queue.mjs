import PQueue from 'p-queue'
import { byName, maxConcurrency, PlainCall } from '../engine-parts/plain-call.mjs'

export const engine = {
  title: 'p-queue',
  packages: ['p-queue'],
  scope: 'tools',
  gives: { order: 'calls', isExclusive: false, startsEarly: false, sideBySide: maxConcurrency, validates: false },
  prepare({ tools, calls }) {
    return async () => {
      const toolByName = byName(tools)
      const queue = new PQueue({ concurrency: maxConcurrency })
      const run = (block) => async () => {
        const call = new PlainCall(block, toolByName.get(block.name))
        await call.run()
        return call.result
      }
      return { results: await queue.addAll(calls.map(run)), executor: queue }
    }
  },
}
