import type { HookEvent, Hooks } from '../hooks/hook.ts'
import { type HookRegistry, hooksFor, type ReadyHook, readHooks } from '../hooks/hook-registry.ts'
import { type PermissionSettings, type ReadPermissions, readPermissions } from '../permission/permission-settings.ts'

/**
 * The parsed hooks and permissions of the contexts of one turn, each object parsed once. Cached per turn, because a host
 * may change its settings between turns.
 */
export class Policy {
  readonly #permissions = new WeakMap<object, ReadPermissions>()
  readonly #hooks = new WeakMap<object, HookRegistry>()

  /** Throws for invalid settings. */
  permissions(settings: PermissionSettings | undefined): ReadPermissions {
    const known = settings && this.#permissions.get(settings)
    if (known !== undefined) return known
    const read = readPermissions(settings)
    if (settings !== undefined) this.#permissions.set(settings, read)
    return read
  }

  /** Throws for invalid hooks. */
  hooks(hooks: Hooks | undefined, event: HookEvent, names: readonly string[]): readonly ReadyHook[] {
    if (hooks === undefined) return []
    const book = this.#hooks.get(hooks) ?? readHooks(hooks)
    this.#hooks.set(hooks, book)
    return hooksFor(book, event, names)
  }
}
