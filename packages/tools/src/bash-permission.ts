import { dirname, resolve } from 'node:path'
import { parseRule, type ToolCheck, type ToolUseContext } from 'signalbox'
import type { PermissionBehavior } from 'signalbox/machines'
import { readShellRule, type ShellRule } from './shell/allow-rule.ts'
import { concernsCommand } from './shell/deny-rule.ts'
import { expandWildcards } from './shell/expand-wildcards.ts'
import { type Consent, consentTo, type ReadCondition, readScript, unaskedConditions } from './shell/shell-rule.ts'
import { isInside } from './workspace/is-inside.ts'
import { pathRule, pathsOf } from './workspace/path-rule.ts'
import type { FoundPlace, Workspace } from './workspace/workspace.ts'

/** The decision of the rules and the list of harmless commands about a command, given the shell's current folder. */
export class BashPermission {
  readonly #workspace: Workspace
  readonly #cwd: () => string
  /** The rules' answer is computed once per command, regardless of the number of rules. */
  readonly #consents = new WeakMap<object, Map<string, Consent>>()
  readonly #rules = new WeakMap<object, readonly ShellRule[]>()

  constructor(workspace: Workspace, cwd: () => string) {
    this.#workspace = workspace
    this.#cwd = cwd
  }

  /** @param essence the command without a `cd` to the folder the shell is already in */
  async matchesRule(
    spec: string,
    command: string,
    essence: string,
    context: ToolUseContext,
    behavior: PermissionBehavior,
  ): Promise<boolean> {
    if (behavior !== 'allow') return concernsCommand(spec, command)
    const { verdict, involved } = this.#consent(essence, context)
    if (!verdict.ok || !involved.has(readShellRule(spec))) return false
    return this.#areReadable(verdict.mustBeReadable, context)
  }

  /** Commands of the short list need no prompt, as long as they stay inside readable folders. */
  async checkPermissions(essence: string, context: ToolUseContext): Promise<ToolCheck | undefined> {
    const conditions = unaskedConditions(essence)
    if (conditions === undefined || !(await this.#areReadable(conditions, context))) return undefined
    if (runsGit(essence)) {
      for (const condition of conditions.filter(({ path }) => path.text === '.')) {
        if (!(await this.#hasOwnRepository(condition))) return undefined
      }
    }
    return { behavior: 'allow' }
  }

  #consent(command: string, { permissions }: ToolUseContext): Consent {
    const isAtRoot = this.#cwd() === this.#workspace.root
    const key = permissions ?? this
    const known = this.#consents.get(key) ?? new Map<string, Consent>()
    this.#consents.set(key, known)
    const name = `${isAtRoot} ${command}`
    const found = known.get(name) ?? consentTo(this.#allowRules(key, permissions?.allow ?? []), command, isAtRoot)
    if (known.size >= 100) known.clear()
    known.set(name, found)
    return found
  }

  #allowRules(key: object, allow: readonly string[]): readonly ShellRule[] {
    const known = this.#rules.get(key)
    if (known !== undefined) return known
    const specs = allow
      .map((rule) => parseRule(rule))
      .flatMap(({ toolName, spec }) => (toolName === 'Bash' && spec !== undefined ? [spec] : []))
    const rules = specs.map(readShellRule)
    this.#rules.set(key, rules)
    return rules
  }

  async #areReadable(conditions: readonly ReadCondition[], { permissions }: ToolUseContext): Promise<boolean> {
    if (conditions.length === 0) return true
    const specs = [...(permissions?.deny ?? []), ...(permissions?.ask ?? [])]
      .map((rule) => parseRule(rule))
      .filter(({ toolName }) => toolName === 'Read')
      .map(({ spec = '**' }) => spec)
    const rules = await Promise.all(specs.map((spec) => pathRule(spec, this.#workspace, 'deny')))
    for (const condition of conditions) {
      if (condition.path.text === '/dev/null') continue
      const places = await this.#placesOf(condition)
      if (places === undefined) return false
      const paths = places.flatMap((place) => pathsOf(place, 'deny'))
      const isHeld = (path: string): boolean =>
        rules.some((rule) => rule.matches(path) || (condition.isDeep && rule.reachesInto(path)))
      if (paths.some(isHeld)) return false
    }
    return true
  }

  /** The paths that a word of the command resolves to; undefined if one is outside the workspace or unknown. */
  async #placesOf(condition: ReadCondition): Promise<FoundPlace[] | undefined> {
    const { path } = condition
    if (!path.hasGlob) {
      const place = await this.#placeOf(condition)
      return place && [place]
    }
    const from = await this.#folderAfter(condition)
    if (from === undefined || hasStepUpInside(path.text)) return undefined
    const paths = await expandWildcards(path, from, this.#workspace)
    if (paths === undefined) return undefined
    const places = await Promise.all(paths.map((each) => this.#workspace.resolve(each)))
    const found = places.filter((place) => place.ok)
    return found.length === places.length ? found : undefined
  }

  async #placeOf(condition: ReadCondition): Promise<FoundPlace | undefined> {
    const { path } = condition
    if (path.text === '-' || path.text === '' || hasStepUpInside(path.text)) return undefined
    const from = await this.#folderAfter(condition)
    const place = from === undefined ? undefined : await this.#workspace.resolve(resolve(from, path.text))
    return place?.ok === true ? place : undefined
  }

  /** The folder of the shell after the `cd` commands before a word; undefined if that is unclear. */
  async #folderAfter({ after }: ReadCondition): Promise<string | undefined> {
    let from = this.#cwd()
    for (const { text } of after) {
      const wanted = resolve(from, text)
      const place = hasStepUpInside(text) ? undefined : await this.#workspace.resolve(wanted)
      // after a symbolic link, cd and programs resolve `..` differently
      if (place?.ok !== true || place.path !== wanted) return undefined
      from = wanted
    }
    return from
  }

  /** A repository around the workspace contains files that the tools may not read. */
  async #hasOwnRepository(folder: ReadCondition): Promise<boolean> {
    const here = await this.#placeOf(folder)
    const root = this.#workspace.roots.find((each) => here !== undefined && isInside(each, here.path))
    if (root === undefined || here === undefined) return false
    for (let at = here.path; isInside(root, at); at = dirname(at)) {
      const isThere = await this.#workspace.fileSystem.lstat(resolve(at, '.git')).then(
        () => true,
        () => false,
      )
      if (isThere) return true
    }
    return false
  }
}

/** `a/../b` differs from `b` if `a` is a link; `../b` is safe, because the shell's own path has no links. */
const hasStepUpInside = (path: string): boolean =>
  path
    .replace(/^(?:\.\.\/+)+/, '')
    .split('/')
    .slice(1)
    .includes('..') || /^\/.*\.\./.test(path)

function runsGit(command: string): boolean {
  const script = readScript(command)
  return script.ok && script.commands.some(({ words: [program] }) => program.text === 'git')
}
