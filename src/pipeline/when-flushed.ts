import type { ToolCall } from './tool-call.ts'

/** Goes on when the log has everything of the call so far, or never will. At once, if it already has. */
export function whenFlushed({ executor: { log } }: ToolCall, goOn: (isDurable: boolean) => void): void {
  const flushing = log?.flush()
  if (flushing === undefined) goOn(log?.failure === undefined)
  else void flushing.then(goOn)
}
