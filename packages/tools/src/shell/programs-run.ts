import type {
  Assignment,
  Command,
  CommandArgument,
  HereDoc,
  ParsedScript,
  Pipeline,
  Redirected,
  Redirection,
  Word,
  WordPart,
} from 'unbash'
import { boundedCache } from './bounded-cache.ts'
import { forEachChild, parseShell, type SyntaxNode } from './parse-shell.ts'
import { commandsInOptions, shells, wrappedStarts, wrappers } from './running-programs.ts'

/** The words of a program that would be run; undefined for a word that only the shell can determine. */
export type RunCommand = readonly (string | undefined)[]

/** Every program that a script would run; undefined if that cannot be determined from the text. */
export const programsRun = boundedCache(
  100,
  (text: string): { readonly commands: readonly RunCommand[] | undefined } => {
    // line breaks and tabs are fine, other control characters are not
    if (/[^\P{Cc}\n\t]/u.test(text) || !text.isWellFormed()) return { commands: undefined }
    const reader = new ProgramReader()
    reader.read(text, 0)
    return { commands: reader.isReadable ? reader.found : undefined }
  },
)

export const nameOf = (program: string): string => program.slice(program.lastIndexOf('/') + 1)

/** The input of a command: none, a known text, or unknown. */
type Input = 'nothing' | 'unknown' | { readonly text: string }

const maxDepth = 5
const maxCommands = 2_000

/** Builtins that evaluate code inside their words, such as array indexes. */
const evaluating = new Set(
  'test [ declare typeset local export readonly let read unset mapfile readarray getopts wait'.split(' '),
)
/** Variables whose value is a command. */
const holdsCommand = /(?:PAGER|EDITOR|VISUAL|COMMAND|ASKPASS|BROWSER|GIT_SSH|SHELL|DIFF)$/
const standardInput = /^(?:-|\/dev\/(?:stdin|fd\/\d+)|\/proc\/.*)$/

class ProgramReader {
  readonly found: RunCommand[] = []
  isReadable = true

  read(text: string | undefined, depth: number): void {
    const script = text === undefined || depth > maxDepth ? undefined : parseShell(text)
    if (script === undefined) this.isReadable = false
    else this.#visit(script, 'nothing', depth)
  }

  #giveUp(): void {
    this.isReadable = false
  }

  #visit(node: SyntaxNode, input: Input, depth: number): void {
    if (node.type === 'Script' && (node as ParsedScript).errors?.length) this.isReadable = false
    if (!this.isReadable) return
    if (node.type === 'Word' && isMisread(node as Word)) this.isReadable = false
    if (node.type === 'Pipeline') return this.#pipeline(node as Pipeline, input, depth)
    const own = node.type === 'Redirected' ? inputOf((node as Redirected).redirects, input) : input
    if (node.type === 'Command') this.#command(node as Command, input, depth)
    if (node.type === 'Assignment') this.#assigned((node as Assignment).name, assignedText(node as Assignment), depth)
    if (node.type === 'TestUnary' || node.type === 'TestBinary') {
      forEachChild(node, (child) => child.type === 'Word' && this.#scan(certainText(child as Word), depth))
    }
    // bash expands the target of >& twice
    if (node.type === 'Redirect' && 'target' in node) this.#scan(certainText(node.target as Word), depth)
    if (node.type === 'ArithmeticWord' && 'value' in node) this.#scan(String(node.value), depth)
    forEachChild(node, (child) => this.#visit(child, own, depth))
  }

  #pipeline({ commands, prefixes }: Pipeline, input: Input, depth: number): void {
    for (const prefix of prefixes) this.#visit(prefix as SyntaxNode, input, depth)
    for (const [index, command] of commands.entries()) {
      this.#visit(command as SyntaxNode, index === 0 ? input : outputOf(commands[index - 1] as SyntaxNode), depth)
    }
  }

  #command({ name, args, redirects }: Command, input: Input, depth: number): void {
    if (name === undefined) return
    const words = [certainText(name), ...args.map(argumentText)]
    this.#see(words, inputOf(redirects, input), depth)
  }

  /** A program and every program that it is known to run in turn. */
  #see(words: RunCommand, input: Input, depth: number): void {
    if (this.found.length >= maxCommands || depth > maxDepth) this.isReadable = false
    if (words.length === 0 || !this.isReadable) return
    this.found.push(words)
    const [program, ...args] = words
    if (program === undefined) return
    const name = nameOf(program).toLowerCase()
    for (const command of commandsInOptions(name, args)) this.read(command, depth + 1)
    if (shells.has(name)) return this.#shell(args, input, depth)
    if (Object.hasOwn(wrappers, name)) return this.#wrapper(name, args, input, depth)
    if (evaluating.has(name) || (name === 'printf' && args.some((word) => word?.startsWith('-v')))) {
      for (const word of args) this.#scan(word, depth)
      if (typeof input === 'object') this.#scan(input.text, depth)
    }
    if (name === 'eval') this.read(joined(args), depth + 1)
    else if (name === 'trap')
      this.read(
        args.find((word) => !word?.startsWith('-')),
        depth + 1,
      )
    else if (name === 'alias') for (const word of args) this.read(word?.replace(/^[^=]*=?/, '') ?? undefined, depth + 1)
    else if (name === 'source' || name === '.') this.#scriptFile(args[0], input, depth)
    else if (name === 'find') this.#find(args, depth)
    else if (name === 'git') this.#git(args, depth)
  }

  #shell(args: RunCommand, input: Input, depth: number): void {
    let runsText = false
    for (let index = 0; index < args.length; index++) {
      const word = args[index]
      if (word === undefined) return this.#giveUp()
      if (/^[-+]./.test(word) && word !== '--') {
        if (/^-[A-Za-z]*c/.test(word)) runsText = true
        if (/^-[A-Za-z]*s/.test(word) && !word.startsWith('--')) return this.#input(input, depth)
        if (/^[-+][A-Za-z]*[oO]$|^--(?:rcfile|init-file)$/.test(word)) index++
      } else if (word !== '--') return runsText ? this.read(word, depth + 1) : this.#scriptFile(word, input, depth)
    }
    if (runsText) this.isReadable = false
    else this.#input(input, depth)
  }

  /** The contents of a file are unknown and not part of the command. */
  #scriptFile(file: string | undefined, input: Input, depth: number): void {
    if (file === undefined) this.isReadable = false
    else if (standardInput.test(file)) this.#input(input, depth)
  }

  #input(input: Input, depth: number): void {
    if (input === 'unknown') this.isReadable = false
    else if (input !== 'nothing') this.read(input.text, depth + 1)
  }

  #wrapper(name: string, args: RunCommand, input: Input, depth: number): void {
    const { operands = 0, takesText = false, addsWords = false } = wrappers[name] ?? {}
    if (name === 'env') this.#env(args, depth)
    if (name === 'command' && args.some((word) => word !== undefined && /^-[vV]$/.test(word))) return
    const placeholder = addsWords ? placeholderOf(args) : undefined
    for (const at of wrappedStarts(args, operands)) {
      const own = args
        .slice(at)
        .map((word) => (placeholder !== undefined && word?.includes(placeholder) ? undefined : word))
      this.#see(addsWords ? [...own, undefined] : own, addsWords ? 'unknown' : input, depth + 1)
    }
    if (takesText) for (const word of args) if (word === undefined || /\s/.test(word)) this.read(word, depth + 1)
  }

  #env(args: RunCommand, depth: number): void {
    for (const [index, word] of args.entries()) {
      const split = word === undefined ? undefined : /^(?:-\w*S|--split-string=?)(.*)$/s.exec(word)
      if (split != null) this.read(split[1] === '' ? args[index + 1] : split[1], depth + 1)
      const assigned = word === undefined ? null : /^([A-Za-z_][\w%]*)=(.*)$/s.exec(word)
      if (assigned !== null) this.#assigned(assigned[1] ?? '', assigned[2], depth)
    }
  }

  #assigned(name: string, value: string | undefined, depth: number): void {
    if (name.startsWith('BASH_FUNC_')) this.read(value === undefined ? undefined : `f${value}`, depth + 1)
    else if (holdsCommand.test(name)) this.read(value, depth + 1)
    else if ((name === 'BASH_ENV' || name === 'ENV') && value === undefined) this.isReadable = false
    else this.#scan(value, depth)
  }

  #find(args: RunCommand, depth: number): void {
    for (const [index, word] of args.entries()) {
      if (word === undefined || !/^-(?:exec|execdir|ok|okdir)$/.test(word)) continue
      const rest = args.slice(index + 1)
      const end = rest.findIndex((each) => each === ';' || each === '+')
      const own = (end < 0 ? rest : rest.slice(0, end)).map((each) => (each?.includes('{}') ? undefined : each))
      this.#see(own, 'nothing', depth + 1)
    }
  }

  #git(args: RunCommand, depth: number): void {
    for (const [index, word] of args.entries()) {
      if (word === '-c' || word === '--config-env') {
        const setting = args[index + 1]
        if (setting === undefined) return this.#giveUp()
        this.#gitSetting(setting, depth)
      } else if (word !== undefined && /^-c./.test(word)) this.#gitSetting(word.slice(2), depth)
      else if (word === 'run' && args[index - 1] === 'bisect') this.#see(args.slice(index + 1), 'nothing', depth + 1)
      else if (word === 'foreach' && args[index - 1] === 'submodule') {
        const rest = args.slice(index + 1).filter((each) => each === undefined || !each.startsWith('--'))
        this.read(joined(rest), depth + 1)
      } else if (word?.startsWith('ext::')) this.read(word.slice(5), depth + 1)
    }
  }

  /** A value that may be a command, such as an alias after `!` or a pager; a hook folder is not one. */
  #gitSetting(setting: string, depth: number): void {
    const [key = '', ...rest] = setting.split('=')
    const value = rest.join('=')
    if (/^alias\./i.test(key)) {
      if (value.startsWith('!')) this.read(value.slice(1), depth + 1)
      else this.#see(['git', ...value.split(/\s+/)], 'nothing', depth + 1)
    } else if (
      /pager|editor|command|external|fsmonitor|program|driver|clean|smudge|process|textconv|helper|cmd|proxy|askpass/i.test(
        key,
      )
    ) {
      this.read(value.replace(/^!/, ''), depth + 1)
    }
  }

  /** Substitutions in a text that the shell may expand later. */
  #scan(text: string | undefined, depth: number): void {
    if (text === undefined || !/\$\(|`|\$\{/.test(text)) return
    this.read(`cat <<SIGNALBOX_END\n${text}\nSIGNALBOX_END\n`, depth + 1)
  }
}

const joined = (words: RunCommand): string | undefined =>
  words.every((word) => word !== undefined) ? words.join(' ') : undefined

/** A word that the shell cannot have parsed as one word. */
function isMisread({ parts, text }: Word): boolean {
  return parts === undefined ? hasSyntax(text) : parts.some((part) => part.type === 'Literal' && hasSyntax(part.text))
}

/** Characters that an unquoted word cannot contain: shell and parser disagree, as for `2<(rm x)`. */
const hasSyntax = (text: string): boolean => /[<>();&|\s]/.test(text.replace(/\\./gs, ''))

function certainText(word: Word | undefined): string | undefined {
  if (word === undefined) return undefined
  const { parts, value } = word
  return parts === undefined || parts.every(isCertain) ? value : undefined
}

function isCertain(part: WordPart): boolean {
  if (part.type === 'DoubleQuoted' || part.type === 'LocaleString')
    return part.parts.every(({ type }) => type === 'Literal')
  return part.type === 'Literal' || part.type === 'SingleQuoted' || part.type === 'AnsiCQuoted'
}

function argumentText(arg: CommandArgument): string | undefined {
  if (arg.type === 'Word') return certainText(arg)
  const value = assignedText(arg)
  return value === undefined ? undefined : `${arg.name}=${value}`
}

function assignedText({ value }: Assignment): string | undefined {
  if (value.type === 'Word') return certainText(value)
  const texts = value.elements.map(certainText)
  return texts.every((text) => text !== undefined) ? texts.join(' ') : undefined
}

function inputOf(redirects: readonly Redirection[], otherwise: Input): Input {
  let input = otherwise
  for (const redirect of redirects) {
    if (redirect.type === 'HereString') input = known(certainText(redirect.target))
    else if (redirect.type === 'HereDoc') input = hereText(redirect)
    else if (redirect.operator.startsWith('<')) input = redirect.target?.value === '/dev/null' ? 'nothing' : 'unknown'
  }
  return input
}

const known = (text: string | undefined): Input => (text === undefined ? 'unknown' : { text })

function hereText({ body, delimiter }: HereDoc): Input {
  if (delimiter?.quoted === true || !/[$`\\]/.test(body.text)) return { text: body.text }
  return 'unknown'
}

/** The known output of a command: the words of echo, or the input of cat. */
function outputOf(node: SyntaxNode): Input {
  if (node.type !== 'Command') return 'unknown'
  const { name, args, redirects } = node as Command
  const words = args.map(argumentText)
  const program = name === undefined ? undefined : certainText(name)
  if (program === 'echo') return known(joined(words.filter((word) => word === undefined || !/^-[neE]+$/.test(word))))
  if (program === 'printf' && words.length === 1) return known(words[0]?.replaceAll('\\n', '\n'))
  if (program === 'cat' && words.length === 0) return inputOf(redirects, 'unknown')
  return 'unknown'
}

/** The placeholder that `xargs -I` replaces. */
function placeholderOf(args: RunCommand): string | undefined {
  const at = args.findIndex((word) => word !== undefined && /^-\w*I/.test(word))
  if (at < 0) return args.some((word) => word !== undefined && /^-i|^--replace/.test(word)) ? '{}' : undefined
  return (args[at] as string).replace(/^-\w*I/, '') || args[at + 1]
}
