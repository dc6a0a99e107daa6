import { executorEngine } from '../engine-parts/signalbox-executor.mjs'

/** A host that is asked about every call and allows it. */
export const engine = executorEngine({
  title: 'with a host that is asked',
  canUseTool: async () => ({ behavior: 'allow' }),
})
