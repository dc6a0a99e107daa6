import type { PlainCommand, PlainScript } from './plain-script.ts'
import { leadsUp, type PlainWord } from './plain-word.ts'

/** The arguments with which a program only reads and prints. Anything else needs a prompt. */
interface Form {
  /** Single-letter options without a value, which may be combined. */
  readonly letters?: string
  /** Single-letter options with a value, in the same word or the next. */
  readonly valued?: string
  /** Long options; a trailing `=` means a value in the same word. */
  readonly long?: string
  /** The kind of the other words; `pattern` is one text and then paths. */
  readonly rest: 'paths' | 'pattern' | 'text' | 'none'
  /** Maximum number of other words. */
  readonly most?: number
  /** Options whose value is the pattern, so that the first other word is a path. */
  readonly patternLetter?: string
  readonly check?: (args: readonly string[]) => boolean
}

const forms: Readonly<Record<string, Form>> = {
  pwd: { letters: 'LP', rest: 'none' },
  true: { rest: 'text' },
  false: { rest: 'text' },
  echo: { rest: 'text' },
  whoami: { rest: 'none' },
  id: { letters: 'ugn', rest: 'none' },
  sleep: { rest: 'text', check: (args) => args.every((text) => /^[\d.]+[smh]?$/.test(text)) },
  seq: { rest: 'text', check: (args) => args.every((text) => /^-?[\d.]+$/.test(text)) },
  uname: { letters: 'asrmnpo', rest: 'none' },
  basename: { rest: 'text' },
  dirname: { rest: 'text' },
  which: { rest: 'text' },
  date: {
    letters: 'uR',
    long: '--iso-8601 --utc',
    rest: 'text',
    check: (args) => args.every((text) => /^[-+]/.test(text)),
  },
  ls: {
    letters: '1aAlhtrSRdFpisCGgnomxkcuX',
    long: '--all --almost-all --human-readable --reverse --recursive --color --color= --group-directories-first --sort= --time=',
    rest: 'paths',
  },
  cat: { letters: 'nbsAETve', rest: 'paths' },
  head: { letters: 'qv', valued: 'nc', long: '--lines= --bytes=', rest: 'paths' },
  tail: { letters: 'qv', valued: 'nc', long: '--lines= --bytes=', rest: 'paths' },
  wc: { letters: 'lwcmL', long: '--lines --words --bytes --chars', rest: 'paths' },
  nl: { letters: '', valued: 'b', rest: 'paths' },
  cut: { letters: 's', valued: 'dfcb', long: '--delimiter= --fields=', rest: 'paths' },
  tr: { rest: 'text' },
  sort: { letters: 'nrufhVbigdMcsz', valued: 'kt', rest: 'paths' },
  uniq: { letters: 'cdui', rest: 'paths', most: 1 },
  diff: { letters: 'uqrNwbBisay', valued: 'U', long: '--brief --unified --unified= --color= --stat', rest: 'paths' },
  cmp: { letters: 'sl', rest: 'paths', most: 2 },
  du: { letters: 'shackm', valued: 'd', long: '--max-depth= --human-readable --summarize', rest: 'paths' },
  stat: { valued: 'c', long: '--format=', rest: 'paths' },
  tree: { letters: 'adfhips', valued: 'LIP', long: '--dirsfirst --noreport --gitignore', rest: 'paths' },
  file: { letters: 'bi', long: '--brief --mime --mime-type', rest: 'paths' },
  tac: { rest: 'paths' },
  rev: { rest: 'paths' },
  comm: { letters: '123', rest: 'paths', most: 2 },
  realpath: { rest: 'paths' },
  readlink: { letters: 'fen', rest: 'paths' },
  sha1sum: { rest: 'paths' },
  sha256sum: { rest: 'paths' },
  md5sum: { rest: 'paths' },
  grep: {
    letters: 'rnilcwvohHqxsFEGaIL',
    valued: 'eABCm',
    long: '--include= --exclude= --exclude-dir= --color= --color --ignore-case --line-number --count --files-with-matches --recursive --only-matching --invert-match --word-regexp --fixed-strings --extended-regexp --max-count= --context= --after-context= --before-context=',
    rest: 'pattern',
    patternLetter: 'e',
  },
  rg: {
    letters: 'nilcwvoFHqxsSNPU',
    valued: 'egtTABCm',
    long: '--files --hidden --line-number --ignore-case --smart-case --count --count-matches --json --no-heading --heading --fixed-strings --word-regexp --multiline --files-with-matches --invert-match --only-matching --no-filename --with-filename --stats --vimgrep --glob= --iglob= --type= --type-not= --sort= --max-count= --context= --after-context= --before-context= --color= --max-depth=',
    rest: 'pattern',
    patternLetter: 'e',
  },
  find: { rest: 'paths', check: isPlainFind },
  sed: { rest: 'paths', check: ([first, script, ...files]) => isPlainSed(first, script, files) },
  printf: { rest: 'text', check: ([format = '-']) => !format.startsWith('-') && !/%(?![s%])/.test(format) },
  test: { rest: 'paths', check: isPlainTest },
  '[': { rest: 'paths', check: (args) => args.at(-1) === ']' && isPlainTest(args.slice(0, -1)) },
}

const log =
  '--oneline --stat --graph --all --decorate --name-only --name-status --patch --no-patch --numstat --shortstat --summary --no-color --follow --reverse --no-merges --merges --first-parent --abbrev-commit --branches --tags --no-renames --word-diff --pretty= --format= --since= --until= --after= --before= --author= --grep= --max-count= --skip= --unified= --diff-filter= --date= --color= --decorate='

/** Subcommands of git, which run with a configuration that starts no program of the repository. */
const gitForms: Readonly<Record<string, Form>> = {
  status: {
    letters: 'sbuz',
    long: '--short --branch --porcelain --porcelain= --long --untracked-files= --ignored',
    rest: 'paths',
  },
  log: { letters: 'pnsi', valued: 'nSGLU', long: log, rest: 'paths' },
  show: { letters: 'ps', valued: 'U', long: log, rest: 'paths' },
  diff: { letters: 'pswb', valued: 'USG', long: `${log} --cached --staged --check --exit-code --quiet`, rest: 'paths' },
  blame: { letters: 'wse', valued: 'L', rest: 'paths' },
  'ls-files': { letters: 'comdtz', long: '--others --modified --deleted --cached --exclude-standard', rest: 'paths' },
  'ls-tree': { letters: 'rtdlz', long: '--name-only', rest: 'paths' },
  'rev-parse': {
    long: '--short --abbrev-ref --show-toplevel --verify --is-inside-work-tree --git-dir --show-prefix',
    rest: 'paths',
  },
  'rev-list': { valued: 'n', long: '--count --all --max-count=', rest: 'paths' },
  describe: { long: '--tags --always --all --long --abbrev=', rest: 'paths' },
  'merge-base': { rest: 'paths' },
  shortlog: { letters: 'sne', long: '--all', rest: 'paths' },
  branch: { letters: 'arv', long: '--all --remotes --list --show-current --verbose', rest: 'none' },
  tag: { letters: 'l', long: '--list', rest: 'none' },
  remote: { letters: 'v', rest: 'none' },
  'stash list': { long: '--oneline --stat', rest: 'none' },
  'worktree list': { long: '--porcelain', rest: 'none' },
}

/** A read-only command, and those of its words that may be paths, also with `*` and `?`. */
export interface UnaskedCommand {
  readonly paths: readonly PlainWord[]
  readonly program: string
}

/** Matches a command against the list; undefined if it needs a prompt. `cd` matches, but changes the shell. */
export function unaskedCommand({ assignments, words, inputs }: PlainCommand): UnaskedCommand | undefined {
  const [program, ...args] = words
  if (assignments.length > 0) return undefined
  const name = program.text
  const form = Object.hasOwn(forms, name) ? forms[name] : undefined
  if (args.some((word) => word.hasGlob && !isFilter(word) && !(form && mayBeExpanded(form, word)))) return undefined
  if (name === 'cd') {
    const isPlain = args.length === 1 && inputs.length === 0 && !/^-|^$/.test(args[0]?.text ?? '')
    return isPlain ? { paths: args, program: name } : undefined
  }
  if (name === 'git') {
    const paths = gitPaths(args)
    return paths === undefined ? undefined : { paths: [...paths, ...inputs], program: name }
  }
  const paths = form && pathsIn(form, args)
  return paths === undefined ? undefined : { paths: [...paths, ...inputs], program: name }
}

/** `--include=*.ts` stays an option, whatever files exist. */
const isFilter = ({ text }: PlainWord): boolean => /^--(?:include|exclude|exclude-dir|glob|iglob)=[^/]*$/.test(text)

/** Wildcards of paths, where any number of paths only reads. */
const mayBeExpanded = ({ check, most, rest }: Form, word: PlainWord): boolean =>
  check === undefined && most === undefined && (rest === 'paths' || rest === 'pattern') && isPlainWildcard(word)

/** `*` and `?` in a word that stays a path, unless a file's name begins with a dash: `*.ts` can become `-x.ts`. */
const isPlainWildcard = (word: PlainWord): boolean => !/^-|\[/.test(word.text) && !leadsUp(word)

const mayBecomeOption = ({ text, hasGlob }: PlainWord): boolean => hasGlob && /^[*?]/.test(text)

/** Whether every command of a script is on the list and none moves the shell: such calls run in parallel. */
export const isReadOnlyScript = (script: PlainScript): boolean => script.ok && script.commands.every(onlyReads)

const onlyReads = (command: PlainCommand): boolean =>
  command.words[0].text !== 'cd' && unaskedCommand(command)?.paths.some(mayBecomeOption) === false

function gitPaths(args: readonly PlainWord[]): PlainWord[] | undefined {
  const from = args[0]?.text === '--no-pager' ? 1 : 0
  const [first, second] = [args[from]?.text ?? '', args[from + 1]?.text ?? '']
  const length = Object.hasOwn(gitForms, `${first} ${second}`) ? 2 : 1
  const name = length === 2 ? `${first} ${second}` : first
  const form = Object.hasOwn(gitForms, name) ? gitForms[name] : undefined
  return form && pathsIn(form, args.slice(from + length))
}

/** The words that may be paths; undefined if a word does not fit the form. */
function pathsIn(form: Form, args: readonly PlainWord[]): PlainWord[] | undefined {
  if (form.check !== undefined && !form.check(args.map(({ text }) => text))) return undefined
  const { letters = '', valued = '', long = '' } = form
  // any text is fine: it is printed, or looked up as a name
  if (form.rest === 'text' && letters === '') return []
  const known = new Set(long.split(' '))
  const others: PlainWord[] = []
  let hasPattern = form.rest !== 'pattern'
  let isOver = false
  for (let index = 0; index < args.length; index++) {
    const word = args[index] as PlainWord
    const { text } = word
    // some programs accept options even after --
    if (isOver && text.startsWith('-')) return undefined
    if (text === '-' || !text.startsWith('-') || isOwnSyntax(form)) others.push(word)
    else if (text === '--') isOver = true
    else if (text.startsWith('--')) {
      if (!known.has(text.replace(/=.*$/s, '='))) return undefined
    } else if (/^-\d+$/.test(text) && valued.includes('n')) continue
    else {
      const option = readLetters(text, letters, valued)
      if (option === undefined) return undefined
      if (option.letter === form.patternLetter && option.letter !== undefined) hasPattern = true
      if (option.takesNext && args[++index]?.hasGlob !== false) return undefined
    }
  }
  if (form.rest === 'text') return []
  if (form.rest === 'none') return others.length === 0 ? [] : undefined
  if (!hasPattern && !args.some(({ text }) => text === '--files') && others.shift()?.hasGlob === true) return undefined
  if (others.length > (form.most ?? Number.POSITIVE_INFINITY)) return undefined
  return others
}

/** Their words are checked by `check` alone. */
const isOwnSyntax = ({ check, rest }: Form): boolean => check !== undefined && rest === 'paths'

function readLetters(
  text: string,
  letters: string,
  valued: string,
): { takesNext: boolean; letter: string | undefined } | undefined {
  for (let index = 1; index < text.length; index++) {
    const letter = text[index] as string
    if (valued.includes(letter)) return { takesNext: index === text.length - 1, letter }
    if (!letters.includes(letter)) return undefined
  }
  return { takesNext: false, letter: undefined }
}

const findTests =
  /^-(?:i?name|i?path|type|maxdepth|mindepth|size|mtime|mmin|newer|empty|not|a|o|and|or|print|print0|prune|xdev|\d+)$/

/** Paths first, then tests and their values; no action that runs or writes. */
function isPlainFind(args: readonly string[]): boolean {
  return args.every((text) => (/^[-(),!]/.test(text) ? /^[()!]$/.test(text) || findTests.test(text) : true))
}

const isPlainSed = (first: string | undefined, script: string | undefined, files: readonly string[]): boolean =>
  first === '-n' && /^\d+(?:,(?:\d+|\$))?p$/.test(script ?? '') && files.every((name) => !name.startsWith('-'))

/** `-v` and arithmetic evaluate code in an array index, so only file and string tests are accepted. */
function isPlainTest(args: readonly string[]): boolean {
  const [first = '', second = '', third] = args[0] === '!' ? args.slice(1) : args
  if (args.some((text) => /[[\]$`()]/.test(text)) || args.length > 4) return false
  if (third === undefined) return /^-[fdersxwLhzn]$/.test(first) && !second.startsWith('-')
  return ['=', '==', '!='].includes(second) && args.length - (args[0] === '!' ? 1 : 0) === 3
}
