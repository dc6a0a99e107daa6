import { relative } from 'node:path'
import { defineTool, type Tool, type ToolCheck, type ToolResult, toolError } from 'signalbox'
import { z } from 'zod'
import { placeOf } from './file-tool.ts'
import { type GrepData, grepData, grepText } from './grep-text.ts'
import { decodeText } from './search/file-bytes.ts'
import { fileGlob } from './search/file-glob.ts'
import { folderRules } from './search/folder-rules.ts'
import { heedRulesAbove } from './search/heed-rules-above.ts'
import { type FoundMatches, maxFileBytes, type Search } from './search/match.ts'
import { nameGlobOf, ripgrepSearch, ripgrepText } from './search/ripgrep-search.ts'
import { scanFiles } from './search/scan-files.ts'
import { byName, forbiddenFiles, listFiles, onOneLine, type SearchService } from './search/search-service.ts'
import { timedSearch } from './search/timed-search.ts'
import { deniedPaths } from './workspace/path-rule.ts'
import { readWhole } from './workspace/read-whole.ts'
import type { FoundPlace } from './workspace/workspace.ts'

const lines = z.number().int().min(0).max(100).optional()
const inputSchema = z.object({
  pattern: z.string().min(1).describe('A regular expression'),
  path: z.string().optional().describe('The folder or file to search; defaults to the whole workspace'),
  glob: z.string().optional().describe('Search only files that match this glob, such as *.ts or src/**/*.ts'),
  output_mode: z.enum(['files_with_matches', 'content', 'count']).optional().describe('Defaults to files_with_matches'),
  ignore_case: z.boolean().optional(),
  multiline: z.boolean().optional().describe('Let a match span several lines'),
  before: lines.describe('Lines to show before each match, in content mode'),
  after: lines.describe('Lines to show after each match, in content mode'),
  head_limit: z.number().int().min(1).optional().describe('Maximum number of lines or files to show'),
})

const maxShown = 500
const modes = { files_with_matches: 'files', content: 'content', count: 'count' } as const

/** Finds text in files. */
export function grepTool(service: SearchService): Tool<typeof inputSchema, GrepData> {
  const { workspace } = service
  return defineTool({
    name: 'Grep',
    description: `Searches files with a regular expression in ripgrep syntax (no look-around, no back-references). Returns at most ${maxShown} lines, sorted by path. Binary files and files listed in .gitignore or .ignore are skipped.`,
    inputSchema,
    ...folderRules(workspace),
    /** Grep shows what Read would show, so a Read rule that asks about the path asks here too. */
    async checkPermissions({ path = '.' }, context): Promise<ToolCheck> {
      const place = await workspace.resolve(path)
      const isAsked = await deniedPaths(workspace, context, ['Read'], 'ask')
      if (!place.ok || !isAsked(place.path)) return { behavior: 'allow' }
      return { behavior: 'ask', message: `A permission rule asks before ${place.shown} is read.` }
    },
    async call(input, context): Promise<ToolResult<GrepData>> {
      if (input.multiline !== true && hasLineBreak(input.pattern)) {
        throw toolError(
          'The pattern contains a line break, which never matches within one line. Set multiline.',
          'Pattern',
        )
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
      const isForbidden = await forbiddenFiles(service, context)
      const isAsked = await deniedPaths(workspace, context, ['Read'], 'ask')
      // the question was about this path; files that it did not name are left out
      const isAllowed = isAsked(place.path) ? () => true : (path: string) => !isAsked(path)
      const isWanted = (path: string): boolean =>
        !isForbidden(path) &&
        isAllowed(path) &&
        (glob === undefined || glob.matches(relative(glob.folder, relative(place.path, path))))
      const { matches, isCut, stoppedBy } = await timedSearch(context.abortController.signal, (signal) =>
        find(service, place, search, input.glob, isWanted, signal),
      )
      const sorted = matches
        .map((match) => ({ ...match, path: onOneLine(workspace.show(match.path)) }))
        .sort((one, other) => byName(one.path, other.path))
      const limit = Math.min(input.head_limit ?? maxShown, maxShown)
      const data = grepData(search.mode, { matches: sorted, isCut }, limit)
      return stoppedBy === undefined ? { data } : { data: { ...data, stoppedBy }, interrupted: true }
    },
    mapResult: (data, id) => ({
      type: 'tool_result',
      tool_use_id: id,
      content: grepText(data),
      ...(data.stoppedBy !== undefined && { is_error: true }),
    }),
  })
}

async function find(
  service: SearchService,
  place: FoundPlace,
  search: Search,
  glob: string | undefined,
  isWanted: (path: string) => boolean,
  signal: AbortSignal,
): Promise<FoundMatches> {
  const { workspace, ripgrep, runner } = service
  const { path, exists } = place
  if (!exists) return { matches: [], isCut: false }
  const { kind } = await workspace.fileSystem.lstat(path)
  const engine = ripgrep === false ? undefined : { path: ripgrep, runner, signal }
  if (kind !== 'folder') {
    // a file named explicitly is searched even if it is ignored
    const wanted = isWanted(path) ? [path] : []
    if (engine === undefined) return scanFiles(workspace, wanted, search, maxShown, signal)
    const text = decodeText((await readWhole(workspace, place, maxFileBytes)).bytes)
    const sought = wanted.length === 0 || text === undefined ? '' : text
    return ripgrepText({ ...engine, folder: workspace.root }, search, path, sought)
  }
  if (engine === undefined) {
    const { files, isCut, isStopped } = await listFiles(service, path, signal)
    if (isStopped === true) return { matches: [], isCut, isStopped }
    // in display order, so that lines beyond the limit need not be kept
    const sought = files.filter(isWanted).sort(byName)
    const found = await scanFiles(workspace, sought, search, maxShown, signal)
    return { ...found, isCut }
  }
  const { matches, isCut, isStopped } = await ripgrepSearch({ ...engine, folder: path }, search, nameGlobOf(glob))
  const wanted = matches.filter((match) => isWanted(match.path))
  return { matches: await heedRulesAbove(workspace, path, wanted, (match) => match.path), isCut, isStopped }
}

/** A line break, literal or escaped, except inside a negated class. */
const hasLineBreak = (pattern: string): boolean => /\\n|\n/.test(pattern.replace(/\\[^n]|\[\^(?:[^\]\\]|\\.)*\]/gs, ''))
