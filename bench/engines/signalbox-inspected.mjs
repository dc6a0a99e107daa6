import { createRecorder } from '../../dist/src/inspect/index.js'
import { executorEngine } from '../engine-parts/signalbox-executor.mjs'

/** With the inspector's recorder: every step becomes a frame. The frames are dropped. */
export const engine = executorEngine({
  title: "with the inspector's recorder",
  watch: (executor) => createRecorder({ onFrame: () => {} }).watch(executor).leave,
})
