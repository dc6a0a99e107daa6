import { z } from 'zod'
import { defineTool } from '../tool/define-tool.ts'
import type { Tool } from '../tool/tool.ts'
import { pathBelow } from '../workspace/path-below.ts'
import { placeOf } from './file-tool.ts'
import { fileGlob } from './search/file-glob.ts'
import { folderRules } from './search/folder-rules.ts'
import { byName, forbiddenFiles, listFiles, type SearchDesk } from './search/search-desk.ts'
import { timedSearch } from './search/timed-search.ts'

export interface GlobData {
  files: string[]
  total: number
  isCut: boolean
}

const inputSchema = z.object({
  pattern: z.string().min(1).describe('Such as src/**/*.ts'),
  path: z.string().optional().describe('The folder to look in; the whole workspace by default'),
})

const maxShown = 500

/** Finds files by name. */
export function globTool(desk: SearchDesk): Tool<typeof inputSchema, GlobData> {
  const { workspace } = desk
  return defineTool({
    name: 'Glob',
    description: `Finds files by a pattern such as src/**/*.ts, sorted by path, at most ${maxShown}. Files that .gitignore or .ignore name are left out.`,
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
      const found = files.filter((file) => glob.matches(pathBelow(place.path, file)) && !isForbidden(file))
      const shown = found.map((file) => workspace.show(file)).sort(byName)
      return { data: { files: shown.slice(0, maxShown), total: found.length, isCut } }
    },
    mapResult: (data, id) => ({ type: 'tool_result', tool_use_id: id, content: textOf(data) }),
  })
}

function textOf({ files, total, isCut }: GlobData): string {
  if (files.length === 0) return 'No file matches.'
  const lines = [...files]
  if (total > files.length) lines.push(`(${files.length} of ${total} files. Use a narrower pattern to see others.)`)
  if (isCut) lines.push('(There are too many files to look at them all: look in a folder.)')
  return lines.join('\n')
}
