import { executorEngine } from '../engine-parts/signalbox-executor.mjs'

/** Somebody watches the actors and does nothing with what is seen. */
export const engine = executorEngine({
  title: 'with an observer that does nothing',
  watch: (executor) => {
    const { unsubscribe } = executor.actor.system.inspect(() => {})
    return unsubscribe
  },
})
