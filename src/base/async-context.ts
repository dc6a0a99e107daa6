/** The async context of a moment: a job that runs in it finds what `AsyncLocalStorage` held there. */
export interface CapturedContext {
  run<Given, Value>(job: (given: Given) => Value, given: Given): Value
}

interface AsyncResource {
  runInAsyncScope<Given, Value>(job: (given: Given) => Value, self: undefined, given: Given): Value
}

interface AsyncHooks {
  readonly AsyncResource: new (type: string, options: { requireManualDestroy: boolean }) => AsyncResource
}

interface Platform {
  readonly AsyncContext?: { readonly Snapshot?: new () => CapturedContext }
  readonly process?: { getBuiltinModule?(name: string): AsyncHooks | undefined }
}

/**
 * Keeps the async context of now. Undefined where the platform has none. By `AsyncResource`, not by the `snapshot` of
 * `AsyncLocalStorage`, which takes a hundred times as long.
 */
export const captureContext: () => CapturedContext | undefined = findCapture(globalThis as Platform)

/** No static import: pages and other runtimes have no such module. */
function findCapture({ AsyncContext, process }: Platform): () => CapturedContext | undefined {
  const Snapshot = AsyncContext?.Snapshot
  if (Snapshot !== undefined) return () => new Snapshot()
  const hooks = process?.getBuiltinModule?.('node:async_hooks')
  if (hooks === undefined) return () => undefined
  const options = { requireManualDestroy: true }
  // a subclass, not a closure around a resource: every call has one
  class ResourceContext extends hooks.AsyncResource implements CapturedContext {
    run<Given, Value>(job: (given: Given) => Value, given: Given): Value {
      return this.runInAsyncScope(job, undefined, given)
    }
  }
  return () => new ResourceContext('signalbox', options)
}
