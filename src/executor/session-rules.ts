import { type PermissionLists, type ReadPermissions, readAddedRules } from '../permission/permission-settings.ts'
import type { AnyTool } from '../tool/tool.ts'
import { assertRules } from './check-context.ts'

/** Rules that came with the host's answers: they apply at once, to every call that is not decided yet. */
export class SessionRules {
  added: ReadPermissions['rules'] = { deny: [], ask: [], allow: [] }
  isEmpty = true
  readonly #tools: readonly AnyTool[]

  constructor(tools: readonly AnyTool[]) {
    this.#tools = tools
  }

  /** Adds all of them, or none: throws if one cannot be used. */
  add(lists: PermissionLists): void {
    const more = this.read(lists)
    const { deny, ask, allow } = this.added
    this.added = { deny: [...deny, ...more.deny], ask: [...ask, ...more.ask], allow: [...allow, ...more.allow] }
    this.isEmpty = false
  }

  read(lists: PermissionLists): ReadPermissions['rules'] {
    const rules = readAddedRules(lists, 'addRules')
    assertRules(rules, this.#tools)
    return rules
  }
}
