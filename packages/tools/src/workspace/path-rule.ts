import { homedir } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import { parseRule, type ToolUseContext } from 'signalbox'
import type { PermissionBehavior } from 'signalbox/machines'
import { isInside, pathBelow } from './is-inside.ts'
import type { FoundPlace, Workspace } from './workspace.ts'

export interface PathRule {
  /** Whether the rule matches this exact path. */
  matches(path: string): boolean
  /** Whether the rule may match something in this folder. */
  reachesInto(folder: string): boolean
}

/**
 * A rule such as `src/**` or `/etc/hosts`, relative to each root unless absolute. A path without wildcards matches
 * itself and everything below. Deny rules match more widely: any case, any Unicode form, and link targets.
 */
export async function pathRule(spec: string, workspace: Workspace, behavior: PermissionBehavior): Promise<PathRule> {
  const { default: picomatch } = await import('picomatch')
  const isAllow = behavior === 'allow'
  const plain = isAllow ? asItIs : (text: string) => text.normalize('NFC').toLowerCase()
  const parts = startsOf(spec.trim(), workspace.roots).map(async ([start, pattern]) => {
    const { base, glob } = literalOf(pattern) ?? picomatch.scan(pattern)
    // the part before the first wildcard is compared literally: a root may have brackets in its name
    const folder = resolve(start, base)
    const folders = isAllow ? [folder] : [folder, ...(await whereItLeads(folder, workspace))]
    return {
      folders: folders.map(plain),
      fits: glob === '' ? () => true : picomatch(plain(glob), { dot: true, flags: 's' }),
    }
  })
  const places = (await Promise.all(parts)).flatMap(({ folders, fits }) => folders.map((folder) => ({ folder, fits })))
  return {
    matches(path) {
      const seen = plain(path)
      return places.some(({ folder, fits }) => isInside(folder, seen) && fits(pathBelow(folder, seen)))
    },
    reachesInto(path) {
      const seen = plain(path)
      return places.some(({ folder }) => isInside(folder, seen) || isInside(seen, folder))
    },
  }
}

/** The paths by which a rule may match a place: an allow rule only by the real path. */
export const pathsOf = ({ path, called }: FoundPlace, behavior: PermissionBehavior): string[] =>
  behavior === 'allow' ? [path] : [path, called]

async function whereItLeads(folder: string, workspace: Workspace): Promise<string[]> {
  const place = await workspace.resolve(folder)
  return place.ok && place.path !== folder ? [place.path] : []
}

/** The real paths that the deny rules of these tools match, or their ask rules. */
export async function deniedPaths(
  workspace: Workspace,
  { permissions }: ToolUseContext,
  toolNames: readonly string[],
  list: 'deny' | 'ask' = 'deny',
): Promise<(path: string) => boolean> {
  const rules = (permissions?.[list] ?? []).map((rule) => parseRule(rule))
  const own = rules.filter(({ toolName }) => toolNames.includes(toolName))
  const specs = await Promise.all(own.map(({ spec = '**' }) => pathRule(spec, workspace, 'deny')))
  return (path) => specs.some(({ matches }) => matches(path))
}

/** A rule for a path that the tools can never reach has no effect. */
export function pathRuleProblem(
  spec: string,
  { roots }: Workspace,
): { severity: 'warning'; message: string } | undefined {
  const isReachable = startsOf(spec.trim(), roots).some(([start, pattern]) => {
    const folder = resolve(start, pattern.replace(/(?:^|\/)[^/]*[*?[{(!].*$/, '').replace(/\\(.)/g, '$1'))
    return roots.some((root) => isInside(root, folder) || isInside(folder, root))
  })
  if (isReachable) return undefined
  return { severity: 'warning', message: `it has no effect, because it matches nothing below ${roots.join(', ')}` }
}

/** A path as a rule that matches only this path: wildcards are escaped. */
export const literalPath = (path: string): string => path.replace(/[\\*?[\]{}()!+@|^$]/g, '\\$&')

/** A pattern whose wildcards are all escaped is a path. */
function literalOf(pattern: string): { base: string; glob: string } | undefined {
  if (!pattern.includes('\\') || /[*?[\]{}()!+|]/.test(pattern.replace(/\\./g, ''))) return undefined
  return { base: pattern.replace(/\\(.)/g, '$1'), glob: '' }
}

const asItIs = (text: string): string => text

function startsOf(spec: string, roots: readonly string[]): [start: string, pattern: string][] {
  if (spec.startsWith('~/')) return [[homedir(), spec.slice(2)]]
  if (isAbsolute(spec)) return [['/', spec.replace(/^\/+/, '')]]
  return roots.map((root) => [root, spec.replace(/^\.\//, '')])
}
