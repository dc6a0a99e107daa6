import { executorEngine } from '../engine-parts/signalbox-executor.mjs'

/** With a no-op observer of the actors. */
export const engine = executorEngine({
  title: 'with an observer that does nothing',
  watch: (executor) => {
    const { unsubscribe } = executor.actor.system.inspect(() => {})
    return unsubscribe
  },
})
