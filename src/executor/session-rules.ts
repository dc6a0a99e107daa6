import { type PermissionLists, type ReadPermissions, readRules } from '../permission/permission-settings.ts'
import type { AnyTool } from '../tool/tool.ts'
import { assertRules } from './check-context.ts'

/** Rules that came with answers of the host: they hold at once, for every call that is not decided yet. */
export class SessionRules {
  added: ReadPermissions['rules'] = { deny: [], ask: [], allow: [] }
  isEmpty = true
  readonly #tools: readonly AnyTool[]

  constructor(tools: readonly AnyTool[]) {
    this.#tools = tools
  }

  /** All of them or, where one cannot be read, none: then it throws. */
  add(lists: PermissionLists): void {
    const more = readRules(lists, 'addRules')
    assertRules(more, this.#tools)
    const { deny, ask, allow } = this.added
    this.added = { deny: [...deny, ...more.deny], ask: [...ask, ...more.ask], allow: [...allow, ...more.allow] }
    this.isEmpty = false
  }
}
