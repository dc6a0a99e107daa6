import { executorEngine } from '../signalbox-executor.mjs'
import { hooksOf } from '../signalbox-hooks.mjs'

export const engine = executorEngine({ title: 'with 2 hooks', context: { hooks: hooksOf(1, 1) } })
