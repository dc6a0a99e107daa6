import { basename, join } from 'node:path'
import { toolError } from '../../workspace/tool-error.ts'
import { type FileMatch, type FoundLine, type FoundMatches, maxFileBytes, maxLineChars, type Search } from './match.ts'
import { runRipgrep } from './ripgrep.ts'
import type { SearchDesk } from './search-desk.ts'

const maxBytes = 50_000_000

/** Looks through the files of a folder with ripgrep. */
export async function ripgrepSearch(
  { ripgrep, runner }: SearchDesk & { ripgrep: string },
  folder: string,
  search: Search,
  nameGlob: string | undefined,
  signal: AbortSignal,
): Promise<FoundMatches> {
  const { pattern, ignoreCase, multiline, mode, before, after } = search
  const modes = {
    files: ['--files-with-matches', '--null'],
    count: ['--count', '--null', '--with-filename'],
    content: ['--json', `--before-context=${before}`, `--after-context=${after}`],
  }
  const args = [
    ...modes[mode],
    ...(ignoreCase ? ['--ignore-case'] : []),
    ...(multiline ? ['--multiline', '--multiline-dotall'] : []),
    // a line ends before its carriage return, unless that is looked for
    ...(/\\r|\r/.test(pattern) ? [] : ['--crlf']),
    // by type and not by glob, which would bring back what is ignored
    ...(nameGlob === undefined ? [] : [`--type-add=wanted:${nameGlob}`, '--type=wanted']),
    `--max-filesize=${maxFileBytes}`,
    `--regexp=${pattern}`,
    '--',
  ]
  const { text, isCut, problem } = await runRipgrep({ path: ripgrep, args, folder, runner, signal, maxBytes })
  if (problem !== undefined) throw toolError(`The pattern cannot be read: ${problem}`, 'Pattern')
  const readers = { files: readNames, count: readCounts, content: readLines }
  return { matches: readers[mode](text, folder), isCut }
}

/** The part of a glob that ripgrep can go by: the name of the file, where it is simple. */
export function nameGlobOf(glob: string | undefined): string | undefined {
  const name = glob === undefined ? '' : basename(glob)
  return /^[\w.*-]*[\w.-][\w.*-]*$/.test(name) && !name.includes('**') ? name : undefined
}

const readNames = (text: string, folder: string): FileMatch[] =>
  text
    .split('\0')
    .slice(0, -1)
    .map((name) => ({ path: join(folder, name), count: 1, lines: [] }))

const readCounts = (text: string, folder: string): FileMatch[] =>
  text.split('\n').flatMap((line) => {
    const [name, count] = line.split('\0')
    return name === undefined || count === undefined
      ? []
      : [{ path: join(folder, name), count: Number(count), lines: [] }]
  })

interface RipgrepEvent {
  type: 'begin' | 'match' | 'context' | 'end' | 'summary'
  data: { path: { text?: string }; line_number: number; lines: { text?: string; bytes?: string } }
}

function readLines(text: string, folder: string): FileMatch[] {
  const files = new Map<string, { count: number; lines: FoundLine[] }>()
  for (const line of text.split('\n')) {
    const event = readEvent(line)
    if (event === undefined || (event.type !== 'match' && event.type !== 'context')) continue
    const { path, lines, line_number } = event.data
    if (path.text === undefined) continue
    const file = files.get(path.text) ?? { count: 0, lines: [] }
    files.set(path.text, file)
    const isMatch = event.type === 'match'
    const shown = (lines.text ?? Buffer.from(lines.bytes ?? '', 'base64').toString('utf8'))
      .replace(/\n$/, '')
      .split('\n')
    if (isMatch) file.count += shown.length
    for (const [index, each] of shown.entries()) {
      file.lines.push({ number: line_number + index, text: each.replace(/\r$/, '').slice(0, maxLineChars), isMatch })
    }
  }
  return [...files].map(([name, file]) => ({ path: join(folder, name), ...file }))
}

function readEvent(line: string): RipgrepEvent | undefined {
  try {
    return JSON.parse(line)
  } catch {
    return undefined
  }
}
