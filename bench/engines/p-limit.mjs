import pLimit from 'p-limit'
import { byName, maxConcurrency, PlainCall } from '../engine-parts/plain-call.mjs'

export const engine = {
  title: 'p-limit',
  packages: ['p-limit'],
  scope: 'tools',
  gives: { order: 'calls', isExclusive: false, startsEarly: false, sideBySide: maxConcurrency, validates: false },
  prepare({ tools, calls }) {
    return async () => {
      const toolByName = byName(tools)
      const limit = pLimit(maxConcurrency)
      const run = async (block) => {
        const call = new PlainCall(block, toolByName.get(block.name))
        await call.run()
        return call.result
      }
      return { results: await limit.map(calls, run), executor: limit }
    }
  },
}
