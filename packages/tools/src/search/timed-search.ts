import { deadline, type StoppedBy } from '../deadline.ts'

const maxMs = 30_000

/** A search that stops when its call is aborted, or on timeout, and then returns what it has found so far. */
export async function timedSearch<Found extends { readonly isStopped?: boolean | undefined }>(
  signal: AbortSignal,
  search: (signal: AbortSignal) => Promise<Found>,
  ms = maxMs,
): Promise<Found & { stoppedBy: StoppedBy | undefined }> {
  const limit = deadline(signal, ms)
  try {
    const found = await search(limit.signal)
    return { ...found, stoppedBy: found.isStopped === true ? limit.stoppedBy : undefined }
  } finally {
    limit.clear()
  }
}

/** What the model is told about a search that did not end by itself. */
export const stopNote = (stoppedBy: StoppedBy): string =>
  stoppedBy === 'timeout'
    ? `[Partial result: the search timed out after ${maxMs / 1_000} s. Search a smaller folder, or use a simpler pattern.]`
    : '[Partial result: the search was stopped before it finished.]'
