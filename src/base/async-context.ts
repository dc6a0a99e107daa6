/** A captured async context: a job that runs in it gets the `AsyncLocalStorage` values of that context. */
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
 * Captures the current async context; undefined if the platform has none. Uses `AsyncResource`, because the `snapshot` of
 * `AsyncLocalStorage` takes a hundred times as long.
 */
export const captureContext: () => CapturedContext | undefined = findCapture(globalThis as Platform)

/** No static import, because browsers and other runtimes have no such module. */
function findCapture({ AsyncContext, process }: Platform): () => CapturedContext | undefined {
  const Snapshot = AsyncContext?.Snapshot
  if (Snapshot !== undefined) return () => new Snapshot()
  const hooks = process?.getBuiltinModule?.('node:async_hooks')
  if (hooks === undefined) return () => undefined
  const options = { requireManualDestroy: true }
  // a subclass instead of a closure around a resource, to save an object per call
  class ResourceContext extends hooks.AsyncResource implements CapturedContext {
    run<Given, Value>(job: (given: Given) => Value, given: Given): Value {
      return this.runInAsyncScope(job, undefined, given)
    }
  }
  return () => new ResourceContext('signalbox', options)
}
