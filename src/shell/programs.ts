import type { PlainWord } from './plain-word.ts'

/** Programs that only read and print, whatever their options. */
export const readers: ReadonlySet<string> = new Set(
  `arch basename cat cksum cmp comm cut df diff dirname du echo egrep expand expr false fgrep fold getconf grep groups head
  hexdump id join locale ls md5sum nl nproc od paste printenv ps pwd readlink realpath rev seq sha1sum sha224sum sha256sum
  sha384sum sha512sum sleep stat strings tac tail tr true tty uname unexpand uptime wc which whoami`.split(/\s+/),
)

/** Programs that run others, or write, by an argument or an option of theirs: no wildcard covers them. */
const runners: ReadonlySet<string> = new Set(
  `7z 7za alias ag ack ansible apk apt ar ash at awk batch bind builtin bunx busybox bwrap capsh caller chroot chrt cmake
  command compgen complete coproc cpio crontab csh curl dash declare deno docker doas ed elixir emacs enable env erl eval ex
  exec expect export fakeroot fc fd fdfind fish flock gawk gdb getopts ghci gmake gpg hash history iconv ionice irb jobs
  jshell julia ksh less let linux32 linux64 local ltrace m4 make man mapfile mawk more mysql nano nawk nc ncat nice ninja
  nohup nsenter numactl nvim openssl osascript parallel pdksh pip pipx pkexec pnpx pry psql R rc read readarray readonly
  rlwrap rsync Rscript rundll32 runuser scp screen script sem set setarch setpriv setsid sftp sg shopt shuf slirp4netns
  socat source sqlite3 ssh stdbuf strace su sudo systemd-run tar taskset tcsh tee time timeout tmux top tput trap tsx ts-node
  typeset unalias unbuffer unset unshare unzip uvx valgrind vi view vim vimdiff w3m wait watch wget xargs xdg-open xonsh
  yash yq zip zsh . bash sh npx bun`.split(/\s+/),
)
const interpreters =
  /^(?:python|pythonw|pypy|ipython|node|nodejs|perl|ruby|php|lua|luajit|tclsh|wish|guile|scheme|bash|zsh|ksh|gawk|mawk)[\d.-]*$/

export const nameOf = (program: string): string => program.slice(program.lastIndexOf('/') + 1)

export const runsOthers = (program: string): boolean =>
  runners.has(nameOf(program)) || interpreters.test(nameOf(program))

type Guard = (args: readonly PlainWord[]) => boolean

const texts = (args: readonly PlainWord[]): string[] => args.map(({ text }) => text)
/** Every word that looks like an option is one of these; what is not listed may do anything. */
const onlyOptions =
  (options: RegExp): Guard =>
  (args) =>
    texts(args).every((text) => !/^[-+]./.test(text) || options.test(text))
const positional = (args: readonly PlainWord[]): number => texts(args).filter((text) => !text.startsWith('-')).length

const gitReads = new Set(
  'log diff show status blame ls-files ls-tree rev-parse describe shortlog rev-list cat-file'.split(' '),
)
const gitOptions =
  /^(?:--|-\d+|-[pnsbzwaluSGL]|-[UnSG]\S+|--(?:oneline|stat|graph|all|decorate|name-only|name-status|cached|staged|patch|no-patch|short|long|porcelain|branch|branches|tags|numstat|shortstat|summary|no-color|follow|reverse|no-merges|merges|first-parent|abbrev-commit|abbrev-ref|show-toplevel|word-diff|others|modified|deleted|exclude-standard|always|date-order|no-renames|check)|--(?:pretty|format|since|until|after|before|author|grep|max-count|skip|unified|diff-filter|date|color|decorate)=.*)$/

/** Programs that only read as long as their arguments are of these kinds. */
const guards: Readonly<Record<string, Guard>> = {
  find: onlyOptions(
    /^-(?:name|iname|path|ipath|wholename|regex|iregex|type|maxdepth|mindepth|size|mtime|mmin|atime|amin|ctime|cmin|newer|empty|not|a|o|and|or|print|print0|prune|depth|xdev|mount|perm|user|group|readable|writable|executable|ls|L|H|P|\d+|[+]\d+)$/,
  ),
  rg: onlyOptions(
    /^(?:-[nilcwvFesSoHhqxU0]+|-[tTgABCmer]\S*|--|--(?:files|hidden|line-number|ignore-case|smart-case|count|json|no-heading|heading|fixed-strings|word-regexp|multiline|no-ignore|files-with-matches|invert-match|only-matching|no-filename|with-filename|stats|vimgrep)|--(?:glob|iglob|type|type-not|sort|max-count|context|after-context|before-context|color|max-depth)=.*)$/,
  ),
  sort: onlyOptions(
    /^(?:-[nruhVfbdiscCzmRg]+|-[kt]\S*|--(?:reverse|numeric-sort|unique|human-numeric-sort|version-sort|ignore-case)|--(?:key|field-separator)=.*)$/,
  ),
  uniq: (args) =>
    onlyOptions(/^(?:-[cdui]+|-[fsw]\d+|--(?:count|repeated|unique|ignore-case))$/)(args) && positional(args) <= 1,
  date: (args) => texts(args).every((text) => /^(?:\+.*|-u|-R|-I|--utc|--iso-8601(?:=\w+)?)$/.test(text)),
  tree: onlyOptions(/^(?:-[adfishpDFCnNJqQux]+|-[LIP]|--dirsfirst|--noreport)$/),
  file: onlyOptions(/^(?:-[bikLhNnr0]+|--brief|--mime|--mime-type)$/),
  xxd: (args) => onlyOptions(/^-(?:[aubEipgscl]|[gscl]\d+)$/)(args) && positional(args) <= 1,
  // these two look into an index of an array, and run what they find there
  test: (args) => texts(args).every((text) => !/[$`]/.test(text)),
  '[': (args) => texts(args).every((text) => !/[$`]/.test(text)),
  printf: (args) => !(args[0]?.text.startsWith('-') ?? false),
  sed: (args) => {
    const [first, script, ...files] = texts(args)
    return first === '-n' && /^\d+(?:,(?:\d+|\$))?p$/.test(script ?? '') && files.every((name) => !name.startsWith('-'))
  },
  git: (args) => {
    const [command, ...rest] = args[0]?.text === '--no-pager' ? args.slice(1) : args
    return command !== undefined && gitReads.has(command.text) && onlyOptions(gitOptions)(rest)
  },
}

/**
 * What is known of a call of a program: that it only reads, that it may run or write anything by its arguments, or
 * nothing.
 */
export function judgeCall([program, ...args]: readonly [PlainWord, ...PlainWord[]]):
  | 'reads'
  | 'mayDoAnything'
  | 'unknown' {
  if (runsOthers(program.text)) return 'mayDoAnything'
  const guard = Object.hasOwn(guards, nameOf(program.text)) ? guards[nameOf(program.text)] : undefined
  if (guard !== undefined) {
    // a wildcard may become an option
    const isPlain = !args.some(({ beginsWithGlob }) => beginsWithGlob) && guard(args)
    if (!isPlain) return 'mayDoAnything'
    return program.text.includes('/') ? 'unknown' : 'reads'
  }
  // by a path it may be another program of that name
  return readers.has(program.text) ? 'reads' : 'unknown'
}

export const isGuarded = (program: string): boolean => Object.hasOwn(guards, nameOf(program))
