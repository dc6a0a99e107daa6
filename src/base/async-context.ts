/** A captured async context: a job that runs in it gets the `AsyncLocalStorage` values of that context. */
export interface CapturedContext {
  run<Given, Value>(job: (given: Given) => Value, given: Given): Value
}

interface AsyncResource {
  runInAsyncScope<Given, Value>(job: (given: Given) => Value, self: undefined, given: Given): Value
}

/** A value of the async context: visible to the code that runs inside and to everything it starts, also after an `await`. */
export interface ContextVariable<Value> {
  run<Result>(value: Value, job: () => Result): Result
  get(): Value | undefined
}

interface LocalStorage<Value> {
  run<Result>(value: Value, job: () => Result): Result
  getStore(): Value | undefined
}

interface AsyncHooks {
  readonly AsyncLocalStorage: new <Value>() => LocalStorage<Value>
  readonly AsyncResource: new (type: string, options: { requireManualDestroy: boolean }) => AsyncResource
}

interface Platform {
  readonly AsyncContext?: {
    readonly Snapshot?: new () => CapturedContext
    readonly Variable?: new <Value>() => ContextVariable<Value>
  }
  readonly process?: {
    readonly versions?: { readonly node?: string }
    getBuiltinModule?(name: string): AsyncHooks | undefined
  }
}

const platform = globalThis as Platform

/**
 * Captures the current async context; undefined if the platform has none. Uses `AsyncResource`, because the `snapshot` of
 * `AsyncLocalStorage` takes a hundred times as long.
 */
export const captureContext: () => CapturedContext | undefined = findCapture(platform)

/** On Node 20 and 22, the first use of a variable makes every promise of the process slower. */
export const hasCheapVariables: boolean =
  platform.AsyncContext?.Variable !== undefined || Number.parseInt(platform.process?.versions?.node ?? '0', 10) >= 24

/** Undefined where the platform has none. */
export function contextVariable<Value>(): ContextVariable<Value> | undefined {
  const Variable = platform.AsyncContext?.Variable
  if (Variable !== undefined) return new Variable<Value>()
  const hooks = platform.process?.getBuiltinModule?.('node:async_hooks')
  if (hooks === undefined) return undefined
  const storage = new hooks.AsyncLocalStorage<Value>()
  return { run: (value, job) => storage.run(value, job), get: () => storage.getStore() }
}

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
