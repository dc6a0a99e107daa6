import type { HookEvent, Hooks } from '../hooks/hook.ts'
import { type HookRegistry, hooksFor, type ReadyHook, readHooks } from '../hooks/hook-registry.ts'
import { type PermissionSettings, type ReadPermissions, readPermissions } from '../permission/permission-settings.ts'

/**
 * The parsed hooks and permissions of one turn. Each settings object is parsed once per turn, because a host may change it
 * between two turns. The maps are created at first use, because most turns have neither.
 */
export class Policy {
  #permissions: WeakMap<object, ReadPermissions> | undefined
  #hooks: WeakMap<object, HookRegistry> | undefined

  /** Throws for invalid settings. */
  permissions(settings: PermissionSettings | undefined): ReadPermissions {
    if (settings === undefined) return readPermissions(settings)
    this.#permissions ??= new WeakMap()
    const read = this.#permissions.get(settings) ?? readPermissions(settings)
    this.#permissions.set(settings, read)
    return read
  }

  /** Throws for invalid hooks. */
  hooks(hooks: Hooks | undefined, event: HookEvent, names: readonly string[]): readonly ReadyHook[] {
    if (hooks === undefined) return []
    this.#hooks ??= new WeakMap()
    const registry = this.#hooks.get(hooks) ?? readHooks(hooks)
    this.#hooks.set(hooks, registry)
    return hooksFor(registry, event, names)
  }
}
