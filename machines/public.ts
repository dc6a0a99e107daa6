import { callChart } from './call-chart.ts'
import { connectionChart } from './connection-chart.ts'
import { executorChart, executorTable } from './executor-chart.ts'
import { queryChart, queryTable } from './query-chart.ts'

export * from './parts.ts'

export const callMachine = callChart()
export const connectionMachine = connectionChart()
export const executorMachine = executorChart()
export const queryMachine = queryChart()
/** What runs in production: the same charts, from a table. */
export const executorLogic = executorTable()
export const queryLogic = queryTable()
