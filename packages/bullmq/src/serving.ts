import { SignalboxError } from 'signalbox'
import { checkMs, checkWholeMs } from './engine.ts'

interface ServingOptions {
  readonly concurrency?: number | undefined
  readonly lockMs?: number | undefined
  readonly checkMs?: number | undefined
  readonly drainMs?: number | undefined
}

/** The options that serving tools and serving sessions share. */
export function checkServing({ concurrency = 1, ...times }: ServingOptions): void {
  for (const key of ['lockMs', 'checkMs'] as const) if (times[key] !== undefined) checkWholeMs(key, times[key], 1)
  if (times.drainMs !== undefined) checkMs('drainMs', times.drainMs)
  if (Number.isInteger(concurrency) && concurrency >= 1) return
  throw new SignalboxError('invalid_option', `concurrency: expected an integer of at least 1, received ${concurrency}.`)
}

/** Calls `close` once at the first signal that ends the process. Returns a function that removes the listeners. */
export function closeAtSignals(close: () => void): () => void {
  const signals = ['SIGTERM', 'SIGINT'] as const
  for (const signal of signals) process.once(signal, close)
  return () => {
    for (const signal of signals) process.off(signal, close)
  }
}
