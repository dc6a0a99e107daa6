import { executorEngine } from '../signalbox-executor.mjs'

export const engine = executorEngine({ title: 'Signalbox executor' })
