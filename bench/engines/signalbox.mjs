import { executorEngine } from '../engine-parts/signalbox-executor.mjs'

export const engine = executorEngine({ title: 'Signalbox executor' })
