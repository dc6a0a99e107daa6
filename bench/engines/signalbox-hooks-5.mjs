import { executorEngine } from '../engine-parts/signalbox-executor.mjs'
import { hooksOf } from '../engine-parts/signalbox-hooks.mjs'

export const engine = executorEngine({ title: 'with 5 hooks', context: { hooks: hooksOf(3, 2) } })
