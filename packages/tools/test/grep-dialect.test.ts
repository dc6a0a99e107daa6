import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTools } from '../src/index.ts'
import { toJavaScript } from '../src/search/dialect/to-javascript.ts'
import type { FileMatch, Search } from '../src/search/match.ts'
import { startSearchThread } from '../src/search/search-thread.ts'
import { runTool, scratch } from './bench.ts'

const isFull = process.env.SIGNALBOX_FULL !== undefined
const found = spawnSync('rg', ['--version'])
const hasRipgrep = found.status === 0
if (!hasRipgrep) console.warn('No comparison with ripgrep: it is not installed.')

const files = {
  'crlf.txt': 'first\r\nsecond\r\nthird 3\r\n',
  'words.txt': `one
two three

α Ω ς
Слово 123
٣ ४
foo_bar foo-bar
K \u212a s ſ S
a.b a\\b {x} [y]\ttab
  indented
naïve café
Å \u212b
export const a = (x: number) => x ** 2 // [0-9]+
if (a) { b("c|d") }
function f<T>(t: T): T[] { return [t] }
last line without end`,
}

interface Way {
  readonly ignoreCase: boolean
  readonly multiline: boolean
}
/** The lines that match, each with its file and number; or that the pattern is wrong. */
type Answer = string[] | 'wrong'

/** ripgrep 13 panics at an empty match before a carriage return, where a pattern may reach over several lines. */
const namesFor = ({ multiline }: Way): (keyof typeof files)[] => (multiline ? ['words.txt'] : ['crlf.txt', 'words.txt'])

/** What ripgrep itself says; undefined for an error that only older versions make. */
function ripgrepSays(pattern: string, way: Way, root: string): Answer | undefined {
  const args = ['--no-config', '-n', '-0', '--with-filename', '--no-heading', '--color=never', '--threads=1']
  const flags = [
    ...(/\\r|\r/.test(pattern) ? [] : ['--crlf']),
    ...(way.ignoreCase ? ['-i'] : []),
    ...(way.multiline ? ['-U', '--multiline-dotall'] : []),
  ]
  const { status, stdout, stderr } = spawnSync('rg', [...args, ...flags, '-e', pattern, '--', ...namesFor(way)], {
    cwd: root,
    encoding: 'utf8',
  })
  if (/empty character class/.test(stderr)) return undefined
  if (
    status === 2 &&
    (/\(\?<n>/.test(pattern) || (/unrecognized escape/.test(stderr) && /\\[^A-Za-z0-9]/.test(pattern)))
  )
    return undefined
  if (status === 2) return 'wrong'
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => line.replace('\0', ':').replace(/\r$/, ''))
}

/** What the search without ripgrep says: the translated pattern, in a thread that stays. */
function scriptEngine(): (pattern: string, way: Way) => Promise<Answer | 'needs ripgrep' | 'slow'> {
  let stopping = new AbortController()
  let thread = startSearchThread(stopping.signal)
  onTestFinished(() => void thread.end())
  return async (pattern, way) => {
    const { ignoreCase, multiline } = way
    const search: Search = { pattern, ignoreCase, multiline, mode: 'content', before: 0, after: 0 }
    const names = namesFor(way)
    const limits = { maxFileBytes: 1_000_000, maxLineChars: 500, maxLines: 500 }
    const timer = setTimeout(() => stopping.abort('slow'), 20_000)
    try {
      const script = toJavaScript(pattern, ignoreCase, multiline)
      const found: FileMatch[] = []
      const request = { search, pattern: script, paths: names, texts: names.map((name) => files[name]), ...limits }
      const end = await thread.scan(request, (match) => void found.push(match))
      if (end === 'stopped') {
        await thread.end()
        stopping = new AbortController()
        thread = startSearchThread(stopping.signal)
        return 'slow'
      }
      return found.flatMap(({ path, lines }) => lines.map(({ number, text }) => `${path}:${number}:${text}`))
    } catch (error) {
      if (/which needs ripgrep/.test(String(error))) return 'needs ripgrep'
      if (/Invalid pattern/.test(String(error))) return 'wrong'
      throw error
    } finally {
      clearTimeout(timer)
    }
  }
}

/** What Grep itself says, with ripgrep and without, of a folder and of each file. */
function toolAnswers(root: string): ((pattern: string, way: Way) => Promise<Answer | 'needs ripgrep'>)[] {
  return ([undefined, false] as const).flatMap((ripgrep) => {
    const { tools, close } = createTools({ root, ...(ripgrep === false && { ripgrep }), shell: false })
    onTestFinished(close)
    return [false, true].map((isFolder) => async (pattern: string, way: Way): Promise<Answer | 'needs ripgrep'> => {
      const lines: string[] = []
      const input = { pattern, output_mode: 'content', ignore_case: way.ignoreCase, multiline: way.multiline }
      for (const path of isFolder ? ['.'] : namesFor(way)) {
        const { text, isError } = await runTool(tools, 'Grep', { ...input, path })
        if (isError && /which needs ripgrep/.test(text)) return 'needs ripgrep'
        if (isError && !/Invalid pattern|contains a line break/.test(text)) throw new Error(text)
        if (isError) return 'wrong'
        if (text !== 'No matches.') lines.push(...text.split('\n'))
      }
      return lines
    })
  })
}

const folderFor = (way: Way): string => scratch(Object.fromEntries(namesFor(way).map((name) => [name, files[name]])))

// what people and models write, and what tells the two dialects apart
const patterns = [
  '[[:digit:]]+',
  '[[:alpha:]]{4,}',
  '[[:^alpha:]]',
  '[[:space:]]',
  '[[:word:]]+',
  '\\p{Greek}',
  '\\p{greek}',
  '\\p{Cyrillic}+',
  '\\pL',
  '\\PL',
  '\\p{Lu}',
  '\\p{^Lu}',
  '\\P{Lu}',
  '\\p{sc=Greek}',
  '\\p{Script=Greek}',
  '\\p{Script_Extensions=Greek}',
  '\\p{Nd}',
  '\\p{Lowercase_Letter}',
  '\\p{lowercase letter}',
  '\\p{Alphabetic}',
  '\\d',
  '\\d+',
  '\\D',
  '\\w+',
  '\\W',
  '\\s',
  '\\S+',
  '\\bfoo\\b',
  '\\bС',
  'ï\\b',
  '\\Bne',
  '^one$',
  '^$',
  '$',
  '^',
  '.',
  'a.b',
  'a\\.b',
  '.*',
  'x{2}',
  'o{1,2}',
  'o{2,}',
  '(foo|two)',
  '(?:foo|two)',
  '(?P<name>foo)',
  'a**',
  'a{0}',
  '(?i)ONE',
  '(?i:ONE)',
  'KELVIN|k',
  '(?i)k',
  '(?i)ς',
  '(?i)å',
  '(?s).',
  '(?m)^two',
  '(?x) o n e # comment',
  '(?x)[ a - c ]x',
  '(?x)[ ]',
  '(?x)[ ^ a ]',
  '(?U)o+',
  '(?-i)one',
  '[a-z&&[^aeiou]]+$',
  '[a-c~~b-d]',
  '[\\w--[a-z]]',
  '[]]',
  '[^]]',
  '[a-]',
  '[-a]',
  '[[a-c]x]',
  '[\\d.]',
  '[^\\d\\s]',
  '[\\p{Greek}\\d]',
  '\\x41',
  '\\x{3b1}',
  '\\u03b1',
  '\\u{3B1}',
  '\\U000003b1',
  '\\t',
  '\\{x\\}',
  '\\[y\\]',
  '}',
  ']',
  '\\(x',
  '\\\\b',
  '[\\\\]',
  'c\\|d',
  'a|',
  '()',
  '(?:)',
  'last.*end',
  'second$',
  '^second',
  'd 3$',
  'first\\r',
  '\\r$',
  '[[:foo:]]',
  '[[.a.]]',
  'é',
  'caf.',
  'na\\wve',
  '٣',
  '\\-',
  '-',
  'foo-bar',
  'foo_bar',
  '\\*\\*',
  '=> x',
  'T\\[\\]',
  '<T>',
  '//',
  '"c',
  // wrong in both
  '(',
  ')',
  '[',
  '*',
  '+',
  '?',
  '{',
  'a{',
  'a{2',
  'a{2,1}',
  '[z-a]',
  '[a-\\d]',
  '[\\s-a]',
  '[\\s-]',
  '\\',
  '\\y',
  '\\1',
  '(?=a)',
  '(?!a)',
  '(?<=a)b',
  '(?<!a)b',
  '\\p{Nope}',
  '\\Q',
  '(?z)',
  '(?i',
  '[a',
  '(a',
  '\\K',
  '\\h',
  '\\xzz',
  '\\x{110000}',
  '(?P<1>a)',
  '(?P<a>x)(?P<a>y)',
  '*a',
  'a|*',
  '(*)',
  '(?i)*',
]

/** Any pattern: of parts that fit together, and of signs that may not. */
const atom = fc.constantFrom(
  ...[
    'a',
    'o',
    'e',
    'foo',
    'α',
    'Ω',
    'S',
    'k',
    ' ',
    '.',
    '-',
    '_',
    '3',
    '٣',
    'ï',
    '"',
    '\\.',
    '\\\\',
    '\\(',
    '\\|',
    '\\-',
    '\\ ',
  ],
  ...[
    '\\d',
    '\\D',
    '\\w',
    '\\W',
    '\\s',
    '\\S',
    '\\b',
    '\\B',
    '^',
    '$',
    '\\x41',
    '\\x{3b1}',
    '\\u03b1',
    '\\t',
    '\\r',
    '\\A',
    '\\z',
    '\\n',
    '\\x0a',
    '[\\n]',
    '[^a\\n]',
  ],
  ...[
    '[a-z]',
    '[^a-z]',
    '[[:upper:]]',
    '[[:^digit:]]',
    '\\p{Lu}',
    '\\PL',
    '\\pN',
    '\\p{Greek}',
    '\\p{sc=Cyrl}',
    '[\\w&&[^a-f]]',
  ],
  ...[
    '[\\d--3]',
    '[a-c~~b-d]',
    '[]a]',
    '[a-]',
    '[^\\s]',
    '[.]',
    '[α-ω]',
    '[\\p{L}_]',
    '[[:alnum:]_-]',
    '[ -~]',
    '[^\\W\\d]',
  ],
)
const repetition = fc.constantFrom(
  '*',
  '+',
  '?',
  '{2}',
  '{1,2}',
  '{0,}',
  '{0}',
  '*?',
  '+?',
  '??',
  '{0,1}?',
  '{,2}',
  '++',
)
const flag = fc.constantFrom(
  '(?i)',
  '(?s)',
  '(?m)',
  '(?U)',
  '(?x)',
  '(?-i)',
  '(?-m)',
  '(?u)',
  '(?i:',
  '(?x:',
  '(?P<n>',
  '(?<n>',
)
const { pattern: fitting } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    atom,
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
    fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `${a}|${b}`),
    tie('pattern').map((a) => `(${a})`),
    fc.tuple(tie('pattern'), repetition).map(([a, times]) => `(?:${a})${times}`),
    fc.tuple(atom, repetition).map(([a, times]) => a + times),
    fc.tuple(flag, tie('pattern')).map(([on, a]) => (on.endsWith(')') ? on + a : `${on}${a})`)),
    tie('pattern').map((a) => `[${a}]`),
  ),
}))
const signs = fc.array(fc.constantFrom(...'ao3 ^$.|?*+()[]{}\\-,:&~#=<>!_pxuPdwsbiα'), { minLength: 1, maxLength: 8 })
const anyPattern = fc.oneof(
  { weight: 4, arbitrary: fitting },
  { weight: 1, arbitrary: signs.map((all) => all.join('')) },
)

describe.runIf(hasRipgrep)('Grep reads a pattern as ripgrep does', () => {
  const plain: Way = { ignoreCase: false, multiline: false }
  const ways: Record<string, Way> = {
    'as it is': plain,
    'whatever the case': { ...plain, ignoreCase: true },
    'over several lines': { ...plain, multiline: true },
  }

  it.each(Object.entries(ways))('without it, what people write: %s', { timeout: 300_000 }, async (_, way) => {
    const root = folderFor(way)
    const ask = scriptEngine()
    const differ: unknown[] = []
    for (const pattern of patterns.filter((_, index) => isFull || way === plain || index % 3 === 1)) {
      const wanted = ripgrepSays(pattern, way, root)
      const answer = await ask(pattern, way)
      if (wanted !== undefined && JSON.stringify(answer) !== JSON.stringify(wanted))
        differ.push({ pattern, wanted, answer })
    }
    expect(differ).toEqual([])
  })

  it.each(Object.entries(ways))(
    'with it and without, in a folder and in a file: %s',
    { timeout: 300_000 },
    async (_, way) => {
      const root = folderFor(way)
      const all = toolAnswers(root)
      const differ: unknown[] = []
      for (const pattern of patterns.filter((_, index) => isFull || index % 40 === 5)) {
        const wanted = ripgrepSays(pattern, way, root)
        for (const ask of all) {
          const answer = await ask(pattern, way)
          if (wanted !== undefined && JSON.stringify(answer) !== JSON.stringify(wanted))
            differ.push({ pattern, wanted, answer })
        }
      }
      expect(differ).toEqual([])
    },
  )

  it('any pattern: the same lines, or an error that says why', { timeout: 900_000 }, async () => {
    const all = [false, true].map((multiline) => folderFor({ ignoreCase: false, multiline }))
    const ask = scriptEngine()
    const counts = { same: 0, wrong: 0, 'needs ripgrep': 0, slow: 0 }
    await fc.assert(
      fc.asyncProperty(anyPattern, fc.boolean(), fc.boolean(), async (pattern, ignoreCase, multiline) => {
        const way = { ignoreCase, multiline }
        const wanted = ripgrepSays(pattern, way, all[multiline ? 1 : 0] as string)
        const answer = await ask(pattern, way)
        const isError = answer === 'needs ripgrep' || answer === 'slow'
        counts[isError ? answer : answer === 'wrong' ? 'wrong' : 'same']++
        if (wanted === undefined || isError) return
        expect({ pattern, answer }).toEqual({ pattern, answer: wanted })
      }),
      { numRuns: isFull ? 1_000 : 100 },
    )
    // most of them are searched for, and some are wrong
    expect(counts.same).toBeGreaterThan(counts.wrong)
    expect(counts.wrong).toBeGreaterThan(0)
    expect(counts.slow).toBeLessThan(5)
  })
})

it('says what cannot be looked for without ripgrep, and finds nothing silently', async () => {
  const { tools, close } = createTools({ root: scratch(files), ripgrep: false, shell: false })
  onTestFinished(close)
  for (const pattern of ['(?-u)x', 'a(?i)b', '(?R)x', '\\Aone', 'one\\z']) {
    const { text, isError } = await runTool(tools, 'Grep', { pattern })
    expect([isError, text]).toEqual([true, expect.stringContaining('which needs ripgrep')])
  }
})
