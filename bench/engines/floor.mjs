import { byName, PlainCall } from '../plain-call.mjs'

/** No scheduler at all: every call at once. What the work itself costs. */
export default {
  name: 'floor',
  keepsRules: false,
  async turn(calls, tools) {
    const toolByName = byName(tools)
    const results = await Promise.all(
      calls.map(async (block) => {
        const call = new PlainCall(block, toolByName.get(block.name))
        await call.run()
        return call.result
      }),
    )
    return { results }
  },
}
