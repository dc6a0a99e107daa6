import { executorEngine } from '../engine-parts/signalbox-executor.mjs'

/** Rules decide every call; the host is never asked. */
export const engine = executorEngine({
  title: 'with rules',
  context: { permissions: { deny: ['Delete', 'Format'], ask: ['Deploy'], allow: ['Read', 'Write'] } },
  canUseTool: () => ({ behavior: 'deny', message: 'no rule matched' }),
})
