import { basename, join } from 'node:path'
import { finishingTime } from '../deadline.ts'
import { invalidPattern } from './dialect/pattern-error.ts'
import { type FileMatch, type FoundLine, type FoundMatches, maxFileBytes, maxLineChars, type Search } from './match.ts'
import { type RipgrepRun, runRipgrep } from './ripgrep.ts'
import { startSearchThread } from './search-thread.ts'

const maxBytes = 100_000_000
const confirmedAtOnce = 64

type Where = Pick<RipgrepRun, 'path' | 'runner' | 'folder' | 'signal'>

/** Searches the files of a folder with ripgrep, and verifies the matches. */
export async function ripgrepSearch(where: Where, search: Search, nameGlob: string | undefined): Promise<FoundMatches> {
  const more = [
    // by type and not by glob, which would re-include ignored files
    ...(nameGlob === undefined ? [] : [`--type-add=wanted:${nameGlob}`, '--type=wanted']),
    `--max-filesize=${maxFileBytes}`,
  ]
  const { found, isCut, isStopped } = await run(where, search, more)
  const { confirmed, isWhole } = await confirm(found, where.signal)
  return { matches: confirmed.map((match) => shown(match, search)), isCut, isStopped: isStopped || !isWhole }
}

/** In batches, so that a stop loses only the matches that nobody has verified yet. */
async function confirm(
  found: readonly FileMatch[],
  signal: AbortSignal,
): Promise<{ confirmed: FileMatch[]; isWhole: boolean }> {
  const confirmed: FileMatch[] = []
  if (found.length === 0) return { confirmed, isWhole: true }
  const limit = finishingTime(signal)
  const thread = startSearchThread(limit.signal)
  try {
    for (let from = 0; from < found.length; from += confirmedAtOnce) {
      const batch = found.slice(from, from + confirmedAtOnce)
      const isTrue = await thread.confirm(batch)
      if (isTrue === 'stopped') return { confirmed, isWhole: false }
      confirmed.push(...batch.filter((_, index) => isTrue[index]))
    }
    return { confirmed, isWhole: true }
  } finally {
    limit.clear()
    await thread.end()
  }
}

/** Searches the text of one file that was already read safely. */
export async function ripgrepText(where: Where, search: Search, path: string, text: string): Promise<FoundMatches> {
  const { found, isCut, isStopped } = await run(where, search, [], text)
  return { matches: found.map((match) => shown({ ...match, path }, search)), isCut, isStopped }
}

async function run(
  where: Where,
  { pattern, ignoreCase, multiline, mode, before, after }: Search,
  more: readonly string[],
  input?: string,
): Promise<{ found: FileMatch[]; isCut: boolean; isStopped: boolean }> {
  const args = [
    '--json',
    ...(mode === 'content' ? [`--before-context=${before}`, `--after-context=${after}`] : []),
    ...(mode === 'files' ? ['--max-count=1'] : []),
    ...(ignoreCase ? ['--ignore-case'] : []),
    ...(multiline ? ['--multiline', '--multiline-dotall'] : []),
    // a line ends before its carriage return, unless the pattern matches it
    ...(/\\r|\r/.test(pattern) ? [] : ['--crlf']),
    ...more,
    `--regexp=${pattern}`,
    '--',
  ]
  const { text, isCut, isStopped, problem } = await runRipgrep({ ...where, args, maxBytes, input })
  if (problem !== undefined) throw invalidPattern(problem)
  return { found: readLines(text, where.folder), isCut, isStopped }
}

/** The part of a glob that ripgrep can filter by: the file name, if it is simple. */
export function nameGlobOf(glob: string | undefined): string | undefined {
  const name = glob === undefined ? '' : basename(glob)
  return /^[\w.*-]*[\w.-][\w.*-]*$/.test(name) && !name.includes('**') ? name : undefined
}

function shown({ path, count, lines }: FileMatch, { mode }: Search): FileMatch {
  if (mode !== 'content') return { path, count, lines: [] }
  const cut = lines.map((line) => ({ ...line, text: line.text.replace(/\r$/, '').slice(0, maxLineChars) }))
  return { path, count, lines: cut }
}

/** Text, or base64 for bytes that are not UTF-8. */
interface RipgrepText {
  text?: string
  bytes?: string
}
interface RipgrepEvent {
  type: 'begin' | 'match' | 'context' | 'end' | 'summary'
  data: { path: RipgrepText; line_number: number; lines: RipgrepText }
}

function readLines(text: string, folder: string): FileMatch[] {
  const files = new Map<string, { count: number; lines: FoundLine[] }>()
  for (const line of text.split('\n')) {
    const event = readEvent(line)
    if (event === undefined || (event.type !== 'match' && event.type !== 'context')) continue
    const { path, lines, line_number } = event.data
    const name = textOf(path)
    const file = files.get(name) ?? { count: 0, lines: [] }
    files.set(name, file)
    const isMatch = event.type === 'match'
    const own = textOf(lines).replace(/\n$/, '').split('\n')
    if (isMatch) file.count += own.length
    for (const [index, each] of own.entries()) file.lines.push({ number: line_number + index, text: each, isMatch })
  }
  return [...files].map(([name, file]) => ({ path: join(folder, name), ...file }))
}

const textOf = ({ text, bytes = '' }: RipgrepText): string => text ?? Buffer.from(bytes, 'base64').toString('utf8')

function readEvent(line: string): RipgrepEvent | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
