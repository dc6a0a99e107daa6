import { defineTool, type Tool, type ToolResult } from 'signalbox'
import { z } from 'zod'
import { finishingTime, type StoppedBy } from './deadline.ts'
import { placeOf } from './file-tool.ts'
import { confirmListed } from './search/confirm-listed.ts'
import { fileGlob } from './search/file-glob.ts'
import { folderRules } from './search/folder-rules.ts'
import { byName, forbiddenFiles, listFiles, onOneLine, type SearchService } from './search/search-service.ts'
import { stopNote, timedSearch } from './search/timed-search.ts'
import { pathBelow } from './workspace/is-inside.ts'

export interface GlobData {
  files: string[]
  total: number
  isCut: boolean
  /** Set if the search did not end by itself: there may be other files. */
  stoppedBy?: StoppedBy | undefined
}

const inputSchema = z.object({
  pattern: z.string().min(1).describe('The glob pattern, such as src/**/*.ts'),
  path: z.string().optional().describe('The folder to search; defaults to the whole workspace'),
})

const maxShown = 500

/** Finds files by name. */
export function globTool(service: SearchService): Tool<typeof inputSchema, GlobData> {
  const { workspace } = service
  return defineTool({
    name: 'Glob',
    description: `Finds files by a glob pattern such as src/**/*.ts. Returns at most ${maxShown} paths, sorted. Files listed in .gitignore or .ignore are skipped.`,
    inputSchema,
    ...folderRules(workspace),
    async call({ pattern, path = '.' }, context): Promise<ToolResult<GlobData>> {
      const from = await placeOf(workspace, path)
      const glob = await fileGlob(pattern, from.path, false)
      const place = await placeOf(workspace, glob.folder)
      if (!place.exists) return { data: { files: [], total: 0, isCut: false } }
      const { kind } = await workspace.fileSystem.lstat(place.path)
      const { signal } = context.abortController
      const { files, isCut, stoppedBy } =
        kind === 'folder'
          ? await timedSearch(signal, (stop) => listFiles(service, place.path, stop))
          : { files: [place.path], isCut: false, stoppedBy: undefined }
      const isForbidden = await forbiddenFiles(service, context)
      const listed = files.filter((file) => glob.matches(pathBelow(place.path, file)) && !isForbidden(file))
      const limit = finishingTime(signal)
      const found = service.ripgrep === false ? listed : await confirmListed(workspace, listed, limit.signal)
      limit.clear()
      const shown = found.map((file) => onOneLine(workspace.show(file))).sort(byName)
      const data = { files: shown.slice(0, maxShown), total: found.length, isCut }
      return stoppedBy === undefined ? { data } : { data: { ...data, stoppedBy }, interrupted: true }
    },
    mapResult: (data, id) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: textOf(data),
      ...(data.stoppedBy !== undefined && { is_error: true }),
    }),
  })
}

function textOf({ files, total, isCut, stoppedBy }: GlobData): string {
  if (files.length === 0 && stoppedBy !== undefined) return `${stopNote(stoppedBy)}\nNo files match so far.`
  if (files.length === 0) return 'No files match.'
  // at the start, because a long result is truncated at its end
  const lines = [...(stoppedBy === undefined ? [] : [stopNote(stoppedBy)]), ...files]
  if (total > files.length)
    lines.push(`(${files.length} of ${total} files shown. Use a narrower pattern to see the others.)`)
  if (isCut) lines.push('(Too many files to search them all. Set path to a smaller folder.)')
  return lines.join('\n')
}
