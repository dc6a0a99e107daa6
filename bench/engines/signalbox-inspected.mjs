import { createRecorder } from '../../dist/src/inspect/index.js'
import { executorEngine } from '../engine-parts/signalbox-executor.mjs'

/** What the inspector does: every step becomes a frame. The frames are counted and let go. */
export const engine = executorEngine({
  title: "with the inspector's recorder",
  watch: (executor) => createRecorder({ onFrame: () => {} }).watch(executor).leave,
})
