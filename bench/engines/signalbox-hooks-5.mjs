import { executorEngine } from '../signalbox-executor.mjs'
import { hooksOf } from '../signalbox-hooks.mjs'

export const engine = executorEngine({ title: 'with 5 hooks', context: { hooks: hooksOf(3, 2) } })
