/** Runs something in the async context that was captured: what `AsyncLocalStorage` holds there, it finds. */
export type RunInContext = (job: () => void) => void

interface AsyncResource {
  runInAsyncScope(job: () => void): void
}

interface AsyncHooks {
  readonly AsyncResource: new (type: string, options: { requireManualDestroy: boolean }) => AsyncResource
}

interface Platform {
  readonly AsyncContext?: { readonly Snapshot?: new () => { run(job: () => void): void } }
  readonly process?: { getBuiltinModule?(name: string): AsyncHooks | undefined }
}

/**
 * Keeps the async context of now. Undefined where the platform has none. By `AsyncResource`, not by the `snapshot` of
 * `AsyncLocalStorage`, which takes a hundred times as long.
 */
export const captureContext: () => RunInContext | undefined = findCapture(globalThis as Platform)

/** No static import: pages and other runtimes have no such module. */
function findCapture({ AsyncContext, process }: Platform): () => RunInContext | undefined {
  const Snapshot = AsyncContext?.Snapshot
  if (Snapshot !== undefined) {
    return () => {
      const snapshot = new Snapshot()
      return (job) => snapshot.run(job)
    }
  }
  const hooks = process?.getBuiltinModule?.('node:async_hooks')
  if (hooks === undefined) return () => undefined
  const { AsyncResource } = hooks
  return () => {
    const resource = new AsyncResource('signalbox', { requireManualDestroy: true })
    return (job) => resource.runInAsyncScope(job)
  }
}
