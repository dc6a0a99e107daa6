import type { Opinion } from '../../../machines/index.ts'
import type { ToolCheck } from '../../tool/permission.ts'
import type { InputVerdict } from '../../tool/tool.ts'
import { pathRule, pathsOf } from '../../workspace/path-rule.ts'
import type { Workspace } from '../../workspace/workspace.ts'

interface FolderInput {
  path?: string | undefined
}

/** What a tool that searches a folder says of a call before it runs. */
export function folderRules(workspace: Workspace) {
  return {
    isConcurrencySafe: () => true,
    isReadOnly: () => true,
    interruptBehavior: () => 'cancel' as const,
    checkPermissions: (): ToolCheck => ({ behavior: 'allow' }),
    async validateInput({ path = '.' }: FolderInput): Promise<InputVerdict> {
      const place = await workspace.resolve(path)
      return place.ok ? { result: true } : { result: false, message: place.message }
    },
    /** What denies looks wider: a search of a folder is a search of everything in it. */
    async matchesRule(
      spec: string,
      { path = '.' }: FolderInput,
      _context: unknown,
      behavior: Opinion,
    ): Promise<boolean> {
      const place = await workspace.resolve(path)
      if (!place.ok) return behavior !== 'allow'
      const rule = await pathRule(spec, workspace, behavior)
      return pathsOf(place, behavior).some(behavior === 'allow' ? rule.matches : rule.reachesInto)
    },
  }
}
