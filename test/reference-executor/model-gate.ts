import { isExecuting, isSafe, type ModelCall } from './model-call.ts'

export function gateOf(calls: readonly ModelCall[]): string {
  const executing = calls.filter(isExecuting)
  if (executing.length === 0) return 'open'
  return executing.every(isSafe) ? 'shared' : 'exclusive'
}

/** Whether one more call may run; calls that wait for a person do not count. */
export const hasPlace = (calls: readonly ModelCall[], maxConcurrency: number): boolean =>
  calls.filter((call) => isExecuting(call) && call.stage !== 'asking').length < maxConcurrency

/** The first call, in emission order, that may start now. */
export function nextToStart(calls: readonly ModelCall[], maxConcurrency: number): ModelCall | undefined {
  const executing = calls.filter(isExecuting)
  const hasRoom = hasPlace(calls, maxConcurrency) && executing.every(isSafe)
  for (const call of calls) {
    if (call.stage !== 'waiting') continue
    if (!call.held && (executing.length === 0 || (isSafe(call) && hasRoom))) return call
    if (!isSafe(call)) return undefined
  }
  return undefined
}
