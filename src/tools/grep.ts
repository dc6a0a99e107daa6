import { relative } from 'node:path'
import { z } from 'zod'
import { defineTool } from '../tool/define-tool.ts'
import type { Tool } from '../tool/tool.ts'
import { toolError } from '../workspace/tool-error.ts'
import type { FoundPlace } from '../workspace/workspace.ts'
import { placeOf } from './file-tool.ts'
import { type GrepData, grepData, grepText } from './grep-text.ts'
import { fileGlob } from './search/file-glob.ts'
import { folderRules } from './search/folder-rules.ts'
import { heedRulesAbove } from './search/heed-rules-above.ts'
import type { FoundMatches, Search } from './search/match.ts'
import { nameGlobOf, ripgrepSearch } from './search/ripgrep-search.ts'
import { scanFiles } from './search/scan-files.ts'
import { byName, forbiddenFiles, listFiles, type SearchDesk } from './search/search-desk.ts'
import { timedSearch } from './search/timed-search.ts'

const lines = z.number().int().min(0).max(100).optional()
const inputSchema = z.object({
  pattern: z.string().min(1).describe('A regular expression'),
  path: z.string().optional().describe('The folder or file to look in; the whole workspace by default'),
  glob: z.string().optional().describe('Only files of this pattern, such as *.ts or src/**/*.ts'),
  output_mode: z.enum(['files_with_matches', 'content', 'count']).optional().describe('files_with_matches by default'),
  ignore_case: z.boolean().optional(),
  multiline: z.boolean().optional().describe('Let the pattern reach over several lines'),
  before: lines.describe('Lines to show before each match, with content'),
  after: lines.describe('Lines to show after each match, with content'),
  head_limit: z.number().int().min(1).optional().describe('How many lines or files to show'),
})

const maxShown = 500
const modes = { files_with_matches: 'files', content: 'content', count: 'count' } as const

/** Finds text in files. */
export function grepTool(desk: SearchDesk): Tool<typeof inputSchema, GrepData> {
  const { workspace } = desk
  return defineTool({
    name: 'Grep',
    description: `Finds text in files by a regular expression, sorted by path, at most ${maxShown} lines. Files that .gitignore or .ignore name are left out, and binary ones.`,
    inputSchema,
    ...folderRules(workspace),
    async call(input, context): Promise<{ data: GrepData }> {
      if (input.multiline !== true && hasLineBreak(input.pattern)) {
        throw toolError('The pattern has a line break in it, which no line has: set multiline.', 'Pattern')
      }
      const place = await placeOf(workspace, input.path ?? '.')
      const search: Search = {
        pattern: input.pattern,
        ignoreCase: input.ignore_case ?? false,
        multiline: input.multiline ?? false,
        mode: modes[input.output_mode ?? 'files_with_matches'],
        before: input.before ?? 0,
        after: input.after ?? 0,
      }
      const glob = input.glob === undefined ? undefined : await fileGlob(input.glob, '', true)
      const isForbidden = await forbiddenFiles(desk, context)
      const isWanted = (path: string): boolean =>
        !isForbidden(path) && (glob === undefined || glob.matches(relative(glob.folder, relative(place.path, path))))
      const { matches, isCut } = await timedSearch(context.abortController.signal, (signal) =>
        find(desk, place, search, input.glob, isWanted, signal),
      )
      const sorted = matches
        .map((match) => ({ ...match, path: workspace.show(match.path) }))
        .sort((one, other) => byName(one.path, other.path))
      const limit = Math.min(input.head_limit ?? maxShown, maxShown)
      return { data: grepData(search.mode, { matches: sorted, isCut }, limit) }
    },
    mapResult: (data, id) => ({ type: 'tool_result', tool_use_id: id, content: grepText(data) }),
  })
}

async function find(
  desk: SearchDesk,
  { path, exists }: FoundPlace,
  search: Search,
  glob: string | undefined,
  isWanted: (path: string) => boolean,
  signal: AbortSignal,
): Promise<FoundMatches> {
  const { workspace, ripgrep } = desk
  if (!exists) return { matches: [], isCut: false }
  const { kind } = await workspace.fileSystem.lstat(path)
  // one file is quickly read, and may be one that is ignored
  if (kind !== 'folder') return scanFiles(workspace, isWanted(path) ? [path] : [], search, maxShown, signal)
  if (ripgrep === false) {
    const { files, isCut } = await listFiles(desk, path, signal)
    // in the order in which they are shown, so that lines which will not be need not be kept
    const sought = files.filter(isWanted).sort(byName)
    const found = await scanFiles(workspace, sought, search, maxShown, signal)
    return { ...found, isCut }
  }
  const { matches, isCut } = await ripgrepSearch({ ...desk, ripgrep }, path, search, nameGlobOf(glob), signal)
  const wanted = matches.filter((match) => isWanted(match.path))
  return { matches: await heedRulesAbove(workspace, path, wanted, (match) => match.path), isCut }
}

/** A line break, as itself or written out; not where a class leaves it out. */
const hasLineBreak = (pattern: string): boolean => /\\n|\n/.test(pattern.replace(/\\[^n]|\[\^(?:[^\]\\]|\\.)*\]/gs, ''))
