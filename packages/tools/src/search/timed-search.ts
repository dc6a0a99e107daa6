import { toolError } from 'signalbox'
import { deadline } from '../deadline.ts'

/** A search that stops when its call is aborted, or on timeout. */
export async function timedSearch<Found>(
  signal: AbortSignal,
  search: (signal: AbortSignal) => Promise<Found>,
  maxMs = 30_000,
): Promise<Found> {
  const limit = deadline(signal, maxMs)
  try {
    return await search(limit.signal)
  } catch (error) {
    if (!limit.isLate || signal.aborted) throw error
    throw toolError(
      `The search timed out after ${maxMs / 1_000} s. Search a smaller folder, or use a simpler pattern.`,
      'Timeout',
    )
  } finally {
    limit.clear()
  }
}
