import { type InputVerdict, type ToolCheck, type ToolUseContext, toolError } from 'signalbox'
import type { PermissionBehavior } from 'signalbox/machines'
import { belongsToGit } from './workspace/belongs-to-git.ts'
import { deniedPaths, literalPath, pathRule, pathRuleProblem, pathsOf } from './workspace/path-rule.ts'
import type { ReadMemory } from './workspace/read-memory.ts'
import type { FoundPlace, Workspace } from './workspace/workspace.ts'

/** Dependencies of the file tools: the workspace and the record of files that were read. */
export interface FileToolDeps {
  readonly workspace: Workspace
  readonly memory: ReadMemory
}

interface FileInput {
  file_path: string
}

/** Resolves a path, or throws an error that explains why it cannot be resolved. */
export async function placeOf(workspace: Workspace, path: string): Promise<FoundPlace> {
  const place = await workspace.resolve(path)
  if (!place.ok) throw toolError(place.message, 'OutsideWorkspace')
  return place
}

/**
 * Resolves again when the call runs. A link may have been placed there since the rules were matched, so deny rules
 * are checked again.
 */
export async function placeNow(
  workspace: Workspace,
  path: string,
  context: ToolUseContext,
  toolNames: readonly string[],
): Promise<FoundPlace> {
  const place = await placeOf(workspace, path)
  if (!(await deniedPaths(workspace, context, toolNames))(place.path)) return place
  throw toolError(`A permission rule denies ${toolNames[0]} for ${place.shown}.`, 'Denied')
}

/** The checks that every tool with a `file_path` makes before the call runs. */
export function fileRules({ workspace }: FileToolDeps) {
  return {
    /** Rejected before a permission prompt; checked again when the call runs. */
    async validateInput({ file_path }: FileInput): Promise<InputVerdict> {
      const place = await workspace.resolve(file_path)
      return place.ok ? { result: true } : { result: false, message: place.message }
    },
    async matchesRule(
      spec: string,
      { file_path }: FileInput,
      _context: unknown,
      behavior: PermissionBehavior,
    ): Promise<boolean> {
      const place = await workspace.resolve(file_path)
      if (!place.ok) return behavior !== 'allow'
      const { matches } = await pathRule(spec, workspace, behavior)
      return pathsOf(place, behavior).some(matches)
    },
    exactRule: ({ file_path }: FileInput) => literalPath(file_path),
    checkRule: (spec: string) => pathRuleProblem(spec, workspace),
  }
}

/** Reading inside the workspace needs no prompt; rules may still deny it. */
export const allowInside = (): ToolCheck => ({ behavior: 'allow' })

const runsPrograms = {
  git: "This changes git's internal files, which can make git run programs.",
  signalbox: "This changes Signalbox's own settings, which decide what runs without a prompt.",
}

/** Some files decide which programs run or what is prompted for, so changing them always needs a prompt. */
export function editRules({ workspace }: FileToolDeps) {
  const warningFor = async ({ file_path }: FileInput): Promise<string | undefined> => {
    const place = await workspace.resolve(file_path)
    if (!place.ok) return undefined
    if (/(?:^|[\\/])\.signalbox(?:[\\/]|$)/i.test(place.path)) return runsPrograms.signalbox
    return (await belongsToGit(workspace, [place.path, place.called])) ? runsPrograms.git : undefined
  }
  return {
    editsWorkspace: async (input: FileInput): Promise<boolean> => (await warningFor(input)) === undefined,
    async checkPermissions(input: FileInput): Promise<ToolCheck | undefined> {
      const message = await warningFor(input)
      return message === undefined ? undefined : { behavior: 'ask', message }
    },
  }
}
