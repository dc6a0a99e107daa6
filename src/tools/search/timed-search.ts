import { toolError } from '../../workspace/tool-error.ts'

/** A search that ends when its call ends, or when it takes too long. */
export async function timedSearch<Found>(
  signal: AbortSignal,
  search: (signal: AbortSignal) => Promise<Found>,
  maxMs = 30_000,
): Promise<Found> {
  const late = AbortSignal.timeout(maxMs)
  try {
    return await search(AbortSignal.any([signal, late]))
  } catch (error) {
    if (!late.aborted || signal.aborted) throw error
    throw toolError(
      `The search took longer than ${maxMs / 1_000} s. Look in a smaller folder, or for something simpler.`,
      'Timeout',
    )
  }
}
