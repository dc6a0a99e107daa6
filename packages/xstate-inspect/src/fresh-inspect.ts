import { createRequire } from 'node:module'
import type { Inspector } from '@xstate/inspect/lib/types.js'
import type { XStateDevInterface } from 'xstate'

export interface FreshInspect {
  readonly devTools: XStateDevInterface
  readonly inspector: Inspector
}

/**
 * The server of `@xstate/inspect`, loaded anew: its list of services is the module's, so that two servers would show each
 * other's actors, and neither would ever let go of them. Whoever else has it keeps theirs, and what it puts
 * into the global scope is taken out again.
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
