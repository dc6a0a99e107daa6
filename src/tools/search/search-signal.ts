const maxMs = 30_000

/** Ends a search when the call ends, or when it takes too long. */
export const searchSignal = (signal: AbortSignal): AbortSignal => AbortSignal.any([signal, AbortSignal.timeout(maxMs)])
