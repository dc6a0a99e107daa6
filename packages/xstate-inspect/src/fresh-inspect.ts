import { createRequire } from 'node:module'
import type { Inspector } from '@xstate/inspect/lib/types.js'
import type { XStateDevInterface } from 'xstate'

export interface FreshInspect {
  readonly devTools: XStateDevInterface
  readonly inspector: Inspector
}

/**
 * Loads a new instance of the server of `@xstate/inspect`. Its list of services is module state: two servers would show
 * each other's actors and never release them. Other users of the package keep their instance, and the globals that the
 * package sets are removed again.
 */
export function freshInspect(server: object): FreshInspect {
  const require = createRequire(import.meta.url)
  const path = require.resolve('@xstate/inspect/lib/server')
  const before = Object.getOwnPropertyDescriptor(globalThis, '__xstate__')
  const loaded = require.cache[path]
  delete require.cache[path]
  try {
    const { inspect } = require(path) as typeof import('@xstate/inspect/lib/server.js')
    const inspector = inspect({ server: server as Parameters<typeof inspect>[0]['server'] })
    return { inspector, devTools: (globalThis as unknown as { __xstate__: XStateDevInterface }).__xstate__ }
  } finally {
    delete require.cache[path]
    if (loaded !== undefined) require.cache[path] = loaded
    Reflect.deleteProperty(globalThis, '__xstate__')
    if (before !== undefined) Object.defineProperty(globalThis, '__xstate__', before)
  }
}
