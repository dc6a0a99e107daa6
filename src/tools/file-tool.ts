import type { Opinion } from '../../machines/index.ts'
import type { ToolCheck } from '../tool/permission.ts'
import type { InputVerdict } from '../tool/tool.ts'
import { pathRule, pathsOf } from '../workspace/path-rule.ts'
import type { ReadMemory } from '../workspace/read-memory.ts'
import { toolError } from '../workspace/tool-error.ts'
import type { FoundPlace, Workspace } from '../workspace/workspace.ts'

/** What the tools for files share: where they work, and what has been read. */
export interface FileDesk {
  readonly workspace: Workspace
  readonly memory: ReadMemory
}

interface FileInput {
  file_path: string
}

/** The place of a path, or an error that says why there is none. */
export async function placeOf(workspace: Workspace, path: string): Promise<FoundPlace> {
  const place = await workspace.resolve(path)
  if (!place.ok) throw toolError(place.message, 'OutsideWorkspace')
  return place
}

/** What a tool with a `file_path` says of a call before it runs. */
export function fileRules({ workspace }: FileDesk) {
  return {
    /** Refused before anybody is asked; looked at again when the call runs. */
    async validateInput({ file_path }: FileInput): Promise<InputVerdict> {
      const place = await workspace.resolve(file_path)
      return place.ok ? { result: true } : { result: false, message: place.message }
    },
    async matchesRule(spec: string, { file_path }: FileInput, _context: unknown, behavior: Opinion): Promise<boolean> {
      const place = await workspace.resolve(file_path)
      if (!place.ok) return behavior !== 'allow'
      const { matches } = await pathRule(spec, workspace, behavior)
      return pathsOf(place, behavior).some(matches)
    },
  }
}

/** Reading in the workspace needs no question; rules may still forbid it. */
export const allowInside = (): ToolCheck => ({ behavior: 'allow' })

/** What git keeps for itself says which programs git runs: a change there is more than an edit. */
export function editRules({ workspace }: FileDesk) {
  const isGitsOwn = async ({ file_path }: FileInput): Promise<boolean> => {
    const place = await workspace.resolve(file_path)
    return place.ok && /(?:^|[\\/])\.git(?:[\\/]|$)/i.test(place.path)
  }
  return {
    editsWorkspace: async (input: FileInput): Promise<boolean> => !(await isGitsOwn(input)),
    async checkPermissions(input: FileInput): Promise<ToolCheck | undefined> {
      if (!(await isGitsOwn(input))) return undefined
      return { behavior: 'ask', message: 'This changes what git keeps for itself, which can make git run programs.' }
    },
  }
}
