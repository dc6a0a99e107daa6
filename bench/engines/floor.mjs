import { byName, PlainCall } from '../engine-parts/plain-call.mjs'

/** No scheduler: every call at once. The cost of the work itself. */
export const engine = {
  title: 'Promise.all',
  packages: [],
  scope: 'tools',
  gives: { order: 'calls', isExclusive: false, startsEarly: false, sideBySide: Infinity, validates: false },
  prepare({ tools, calls }) {
    return async () => {
      const toolByName = byName(tools)
      const run = async (block) => {
        const call = new PlainCall(block, toolByName.get(block.name))
        await call.run()
        return call.result
      }
      return { results: await Promise.all(calls.map(run)) }
    }
  },
  progress:
    ({ count }) =>
    async (got) => {
      for await (const data of reports(count)) got(data)
    },
}

async function* reports(count) {
  for (let n = 0; n < count; n++) yield n
}
