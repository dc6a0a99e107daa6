import { defineTool, type Tool } from 'signalbox'
import { z } from 'zod'
import { placeOf } from './file-tool.ts'
import { confirmListed } from './search/confirm-listed.ts'
import { fileGlob } from './search/file-glob.ts'
import { folderRules } from './search/folder-rules.ts'
import { byName, forbiddenFiles, listFiles, onOneLine, type SearchService } from './search/search-service.ts'
import { timedSearch } from './search/timed-search.ts'
import { pathBelow } from './workspace/is-inside.ts'

export interface GlobData {
  files: string[]
  total: number
  isCut: boolean
}

const inputSchema = z.object({
  pattern: z.string().min(1).describe('The glob pattern, such as src/**/*.ts'),
  path: z.string().optional().describe('The folder to search; defaults to the whole workspace'),
})

const maxShown = 500

/** Finds files by name. */
export function globTool(desk: SearchService): Tool<typeof inputSchema, GlobData> {
  const { workspace } = desk
  return defineTool({
    name: 'Glob',
    description: `Finds files by a glob pattern such as src/**/*.ts. Returns at most ${maxShown} paths, sorted. Files listed in .gitignore or .ignore are skipped.`,
    inputSchema,
    ...folderRules(workspace),
    async call({ pattern, path = '.' }, context): Promise<{ data: GlobData }> {
      const from = await placeOf(workspace, path)
      const glob = await fileGlob(pattern, from.path, false)
      const place = await placeOf(workspace, glob.folder)
      if (!place.exists) return { data: { files: [], total: 0, isCut: false } }
      const { kind } = await workspace.fileSystem.lstat(place.path)
      const { files, isCut } =
        kind === 'folder'
          ? await timedSearch(context.abortController.signal, (signal) => listFiles(desk, place.path, signal))
          : { files: [place.path], isCut: false }
      const isForbidden = await forbiddenFiles(desk, context)
      const listed = files.filter((file) => glob.matches(pathBelow(place.path, file)) && !isForbidden(file))
      const found = desk.ripgrep === false ? listed : await confirmListed(workspace, listed)
      const shown = found.map((file) => onOneLine(workspace.show(file))).sort(byName)
      return { data: { files: shown.slice(0, maxShown), total: found.length, isCut } }
    },
    mapResult: (data, id) => ({ type: 'tool_result', tool_use_id: id, content: textOf(data) }),
  })
}

function textOf({ files, total, isCut }: GlobData): string {
  if (files.length === 0) return 'No files match.'
  const lines = [...files]
  if (total > files.length)
    lines.push(`(${files.length} of ${total} files shown. Use a narrower pattern to see the others.)`)
  if (isCut) lines.push('(Too many files to search them all. Set path to a smaller folder.)')
  return lines.join('\n')
}
