import { spawnSync } from 'node:child_process'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createTools } from '../src/index.ts'
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

/** ripgrep's own answer for one file: the matching line numbers, or that the pattern is invalid. */
function expected(
  pattern: string,
  file: string,
  root: string,
  flags: readonly string[],
): string[] | 'wrong' | 'unclear' {
  const crlf = /\\r|\r/.test(pattern) ? [] : ['--crlf']
  const args = ['--no-config', '-n', '--no-filename', '--color=never', ...crlf, ...flags, '-e', pattern, '--', file]
  const { status, stdout, stderr } = spawnSync('rg', args, { cwd: root, encoding: 'utf8' })
  // an error in older versions only
  if (/empty character class/.test(stderr)) return 'unclear'
  if (status === 2) return 'wrong'
  return stdout
    .split('\n')
    .slice(0, -1)
    .map((line) => `${file}:${line.replace(/\r$/, '')}`)
}

/** ripgrep 13 panics at an empty match before a carriage return in a multiline pattern. */
const namesFor = (multiline: boolean): string[] => (multiline ? ['words.txt'] : ['crlf.txt', 'words.txt'])
const folderFor = (multiline: boolean): string =>
  scratch(Object.fromEntries(namesFor(multiline).map((name) => [name, files[name as keyof typeof files]])))

const ways = (root: string, multiline: boolean) =>
  ([undefined, false] as const).flatMap((ripgrep) => {
    const { tools, close } = createTools({ root, ...(ripgrep === false && { ripgrep }), shell: false })
    onTestFinished(close)
    return [false, true].map((isFolder) => async (pattern: string, more: object): Promise<string[] | 'wrong'> => {
      const lines: string[] = []
      for (const path of isFolder ? ['.'] : namesFor(multiline)) {
        const { text, isError } = await runTool(tools, 'Grep', { pattern, path, output_mode: 'content', ...more })
        if (isError && !/Invalid pattern/.test(text)) throw new Error(text)
        if (isError) return 'wrong'
        if (text !== 'No matches.') lines.push(...text.split('\n'))
      }
      return lines
    })
  })

async function assertSame(
  root: string,
  all: ReturnType<typeof ways>,
  pattern: string,
  ignoreCase: boolean,
  multiline: boolean,
) {
  const flags = [...(ignoreCase ? ['-i'] : []), ...(multiline ? ['-U', '--multiline-dotall'] : [])]
  const each = namesFor(multiline).map((file) => expected(pattern, file, root, flags))
  if (each.includes('unclear')) return
  const wanted = each.includes('wrong') ? 'wrong' : each.flat()
  for (const way of all) expect(await way(pattern, { ignore_case: ignoreCase, multiline }), pattern).toEqual(wanted)
}

// patterns that people and models write, and patterns in which the dialects differ
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
  // invalid in both
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

describe.runIf(hasRipgrep)(
  'Grep reads a pattern as ripgrep does, with it and without, in a folder and in a file',
  () => {
    it.each([
      ['as it is', false, false],
      ['whatever the case', true, false],
      ['over several lines', false, true],
    ])('%s', { timeout: 300_000 }, async (_, ignoreCase, multiline) => {
      const root = folderFor(multiline)
      const all = ways(root, multiline)
      const differ: unknown[] = []
      const isChosen = (_: string, index: number): boolean => isFull || !(ignoreCase || multiline) || index % 3 === 1
      for (const pattern of patterns.filter(isChosen)) {
        await assertSame(root, all, pattern, ignoreCase, multiline).catch((error) =>
          differ.push(error.message.slice(0, 200)),
        )
      }
      expect(differ).toEqual([])
    })

    it('any pattern', { timeout: 600_000 }, async () => {
      const settings = [false, true].map((multiline) => {
        const root = folderFor(multiline)
        return { root, all: ways(root, multiline) }
      })
      const atom = fc.constantFrom(
        'a',
        'o',
        'foo',
        'α',
        'S',
        ' ',
        '.',
        '\\d',
        '\\w',
        '\\s',
        '\\S',
        '\\b',
        '^',
        '$',
        '[a-z]',
        '[^a-z]',
        '[[:upper:]]',
        '\\p{Lu}',
        '\\pN',
        '[\\w&&[^a-f]]',
        '-',
        '_',
        '3',
      )
      const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
        pattern: fc.oneof(
          { maxDepth: 4, withCrossShrink: true },
          atom,
          fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => a + b),
          fc.tuple(tie('pattern'), tie('pattern')).map(([a, b]) => `${a}|${b}`),
          tie('pattern').map((a) => `(${a})`),
          fc
            .tuple(tie('pattern'), fc.constantFrom('*', '+', '?', '{2}', '{1,2}', '*?', '{0,1}?'))
            .map(([a, q]) => `(?:${a})${q}`),
          tie('pattern').map((a) => `(?x)${a}`),
          tie('pattern').map((a) => `[${a}]`),
        ),
      }))
      await fc.assert(
        fc.asyncProperty(pattern, fc.boolean(), fc.boolean(), (given, ignoreCase, multiline) => {
          const { root, all } = settings[multiline ? 1 : 0] as (typeof settings)[number]
          return assertSame(root, all, given, ignoreCase, multiline)
        }),
        { numRuns: isFull ? 1_000 : 10 },
      )
    })
  },
)

it('reports patterns that need ripgrep instead of finding nothing', async () => {
  const { tools, close } = createTools({ root: scratch(files), ripgrep: false, shell: false })
  onTestFinished(close)
  for (const pattern of ['(?-u)x', 'a(?i)b', '(?R)x', '\\Aone', 'one\\z']) {
    const { text, isError } = await runTool(tools, 'Grep', { pattern })
    expect([isError, text]).toEqual([true, expect.stringContaining('which needs ripgrep')])
  }
})
