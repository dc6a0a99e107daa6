import { executorEngine } from '../engine-parts/signalbox-executor.mjs'

/** The rules answer for every call, and nobody is there to be asked. */
export const engine = executorEngine({
  title: 'with rules',
  context: { permissions: { deny: ['Delete', 'Format'], ask: ['Deploy'], allow: ['Read', 'Write'] } },
  canUseTool: () => ({ behavior: 'deny', message: 'no rule spoke' }),
})
