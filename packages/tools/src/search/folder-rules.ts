import type { InputVerdict, ToolCheck } from 'signalbox'
import type { PermissionBehavior } from 'signalbox/machines'
import { pathRule, pathsOf } from '../workspace/path-rule.ts'
import { folderKeys } from '../workspace/resource-key.ts'
import type { Workspace } from '../workspace/workspace.ts'

interface FolderInput {
  path?: string | undefined
}

/** The checks that a tool which searches a folder makes before the call runs. */
export function folderRules(workspace: Workspace) {
  return {
    isConcurrencySafe: () => true,
    isReadOnly: () => true,
    resources: ({ path = '.' }: FolderInput) => ({ reads: folderKeys(workspace, path) }),
    interruptBehavior: () => 'cancel' as const,
    checkPermissions: (): ToolCheck => ({ behavior: 'allow' }),
    async validateInput({ path = '.' }: FolderInput): Promise<InputVerdict> {
      const place = await workspace.resolve(path)
      return place.ok ? { result: true } : { result: false, message: place.message }
    },
    /** Deny rules match more widely: searching a folder searches everything in it. */
    async matchesRule(
      spec: string,
      { path = '.' }: FolderInput,
      _context: unknown,
      behavior: PermissionBehavior,
    ): Promise<boolean> {
      const place = await workspace.resolve(path)
      if (!place.ok) return behavior !== 'allow'
      const rule = await pathRule(spec, workspace, behavior)
      return pathsOf(place, behavior).some(behavior === 'allow' ? rule.matches : rule.reachesInto)
    },
  }
}
