import { coversCommand, coversScript, readShellRule, type ShellRule } from './allow-rule.ts'
import { boundedCache } from './bounded-cache.ts'
import { changesTheRest, evaluatesItsWords } from './changes-the-shell.ts'
import { type PlainCommand, type PlainScript, readPlainScript } from './plain-script.ts'
import type { PlainWord } from './plain-word.ts'
import { isReadOnlyScript, type UnaskedCommand, unaskedCommand } from './unasked-commands.ts'

export const readScript = boundedCache(100, readPlainScript)

/** Whether rules allow a command, and under which condition. */
type Verdict =
  | { readonly ok: false }
  /** The command may run if the tools may read these files; they belong to the parts that no rule names. */
  | { readonly ok: true; readonly mustBeReadable: readonly ReadCondition[] }

export interface ReadCondition {
  readonly path: PlainWord
  /** The folders that the script changes to before, in order. */
  readonly after: readonly PlainWord[]
  /** Whether everything below the path is read too. */
  readonly isDeep: boolean
}

const no: Verdict = { ok: false }

/** The combined answer of all allow rules about one command, computed once. */
export interface Consent {
  readonly verdict: Verdict
  /** The rules that cover at least a part of it. */
  readonly involved: ReadonlySet<ShellRule>
}

/**
 * Whether rules allow a command. Each command of a chain must be covered by a rule or need no prompt; or one rule
 * covers the whole chain exactly.
 *
 * @param isAtRoot whether the shell is in the folder that relative paths in rules start from
 */
export function consentTo(rules: readonly ShellRule[], command: string, isAtRoot = true): Consent {
  const script = readScript(command)
  const involved = new Set<ShellRule>()
  if (!script.ok) return { verdict: no, involved }
  for (const rule of rules) {
    const whole = script.commands.length > 1 || script.joints[0] !== '' ? coversScript(rule, script) : undefined
    if (whole === undefined) continue
    involved.add(rule)
    const isPlaced = isAtRoot || !script.commands.some(isPlacedProgram)
    if (isPlaced) return { verdict: { ok: true, mustBeReadable: whole.inputs.map((path) => atOnce(path)) }, involved }
  }
  return { verdict: partByPart(rules, script, isAtRoot, involved), involved }
}

const atOnce = (path: PlainWord): ReadCondition => ({ path, after: [], isDeep: false })

function partByPart(
  rules: readonly ShellRule[],
  { commands, joints }: Extract<PlainScript, { ok: true }>,
  isAtRoot: boolean,
  involved: Set<ShellRule>,
): Verdict {
  const conditions: ReadCondition[] = []
  const folder = new ShellFolder()
  const unasked = commands.map(unaskedCommand)
  // beside other commands, git would run without the configuration that makes it harmless
  const isAllUnasked = unasked.every((each) => each !== undefined)
  let isCovered = true
  for (const [index, command] of commands.entries()) {
    folder.pass(joints[index] as string)
    const free = isAllUnasked || unasked[index]?.program !== 'git' ? unasked[index] : undefined
    const inputs = coverageOf(rules, command, isAtRoot && folder.isFirst, involved)
    const needs = inputs?.map((path) => ({ path, isDeep: false })) ?? (free && pathsOf(free))
    if (needs === undefined || evaluatesItsWords(command)) isCovered = false
    if (index < commands.length - 1 && changesTheRest(command)) isCovered = false
    if (needs !== undefined && needs.length > 0) {
      if (!folder.isKnown) isCovered = false
      conditions.push(...needs.map((need) => ({ ...need, after: folder.folders })))
    }
    folder.see(command, joints[index + 1])
  }
  return isCovered ? { ok: true, mustBeReadable: conditions } : no
}

/** The folder of the shell during a script: known as long as every `cd` must have succeeded. */
class ShellFolder {
  folders: readonly PlainWord[] = []
  isFirst = true
  isKnown = true
  #isUnconditional = true

  pass(joint: string): void {
    const isChained = joint === '' || joint === '&&'
    if (!isChained) this.#isUnconditional = false
    // after a ; it runs whether or not the shell has moved
    if (!this.isFirst && !/^(?:&&|\|&?)$/.test(joint)) this.isKnown = false
  }

  see({ words: [program, target] }: PlainCommand, next: string | undefined): void {
    if (!['cd', 'pushd', 'popd'].includes(program.text)) return
    this.isFirst = false
    if (program.text !== 'cd' || target === undefined || !this.#isUnconditional) this.isKnown = false
    else if (next !== undefined && next !== '&&') this.isKnown = false
    else this.folders = [...this.folders, target]
  }
}

function coverageOf(
  rules: readonly ShellRule[],
  command: PlainCommand,
  isAtRoot: boolean,
  involved: Set<ShellRule>,
): readonly PlainWord[] | undefined {
  let inputs: readonly PlainWord[] | undefined
  for (const rule of rules) {
    const coverage = coversCommand(rule, command)
    if (coverage === undefined) continue
    // ./run.sh in another folder is another program
    if (!isAtRoot && isPlacedProgram(command) && !allowsAnyProgram(rule)) continue
    involved.add(rule)
    if (inputs === undefined || coverage.inputs.length < inputs.length) inputs = coverage.inputs
  }
  return inputs
}

const allowsAnyProgram = (rule: ShellRule): boolean =>
  rule.ok && rule.forms.every(([pattern]) => pattern?.words.length === 0)

const isPlacedProgram = ({ words: [program] }: PlainCommand): boolean =>
  program.text.includes('/') && !program.text.startsWith('/')

/** Programs that read everything below a folder; the current folder if they name none. */
const deep = new Set('ls grep rg find du diff git tree'.split(' '))

const here: PlainWord = { text: '.', marks: ['bare'], hasGlob: false }

function pathsOf({ paths, program }: UnaskedCommand): Omit<ReadCondition, 'after'>[] {
  if (!deep.has(program)) return paths.map((path) => ({ path, isDeep: false }))
  const named = program === 'git' || paths.length === 0 ? [...paths, here] : paths
  return named.map((path) => ({ path, isDeep: true }))
}

/** The conditions for running a command without a prompt; undefined if it needs one. */
export function unaskedConditions(command: string): readonly ReadCondition[] | undefined {
  const script = readScript(command)
  if (!script.ok || script.commands.some((each) => unaskedCommand(each) === undefined)) return undefined
  const { verdict } = consentTo([], command)
  return verdict.ok ? verdict.mustBeReadable : undefined
}

/** Whether a single rule allows a command, for tests and for hosts that try a rule out. */
export function allowsCommand(spec: string, command: string, others: readonly string[] = [], isAtRoot = true): boolean {
  const own = readShellRule(spec)
  const { verdict, involved } = consentTo([own, ...others.map(readShellRule)], command, isAtRoot)
  return verdict.ok && involved.has(own)
}

/** Whether a command only reads, so that it may run in parallel with others. */
export const isReadOnlyCommand = (command: string): boolean => isReadOnlyScript(readScript(command))
