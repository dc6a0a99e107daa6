import { homedir } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import type { Opinion } from '../../machines/index.ts'
import { isInside } from './is-inside.ts'
import { optionalPackage } from './optional-package.ts'
import { pathBelow } from './path-below.ts'
import type { FoundPlace, Workspace } from './workspace.ts'

export interface PathRule {
  /** Whether the rule speaks of this very path. */
  matches(path: string): boolean
  /** Whether it may speak of something in this folder. */
  reachesInto(folder: string): boolean
}

/**
 * A rule such as `src/**` or `/etc/hosts`, relative to each root unless it is absolute. A path without wildcards speaks
 * of itself and all below it. What denies looks wider: whatever the case, in whatever Unicode form, and where links lead.
 */
export async function pathRule(spec: string, workspace: Workspace, behavior: Opinion): Promise<PathRule> {
  const { default: picomatch } = await optionalPackage('picomatch', () => import('picomatch'))
  const isAllow = behavior === 'allow'
  const plain = isAllow ? asItIs : (text: string) => text.normalize('NFC').toLowerCase()
  const parts = startsOf(spec.trim(), workspace.roots).map(async ([start, pattern]) => {
    const { base, glob } = picomatch.scan(pattern)
    // what stands before the first wildcard is compared as it is: a root may have brackets in its name
    const folder = resolve(start, base)
    const folders = isAllow ? [folder] : [folder, ...(await whereItLeads(folder, workspace))]
    return { folders: folders.map(plain), fits: glob === '' ? () => true : picomatch(plain(glob), { dot: true }) }
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

/** The paths by which a rule may know a place: an allow rule only by where it truly is. */
export const pathsOf = ({ path, called }: FoundPlace, behavior: Opinion): string[] =>
  behavior === 'allow' ? [path] : [path, called]

async function whereItLeads(folder: string, workspace: Workspace): Promise<string[]> {
  const place = await workspace.resolve(folder)
  return place.ok && place.path !== folder ? [place.path] : []
}

const asItIs = (text: string): string => text

function startsOf(spec: string, roots: readonly string[]): [start: string, pattern: string][] {
  if (spec.startsWith('~/')) return [[homedir(), spec.slice(2)]]
  if (isAbsolute(spec)) return [['/', spec.replace(/^\/+/, '')]]
  return roots.map((root) => [root, spec.replace(/^\.\//, '')])
}
