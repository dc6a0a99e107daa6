import { homedir } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import type { Opinion } from '../../machines/index.ts'
import { isInside } from './is-inside.ts'
import { optionalPackage } from './optional-package.ts'
import { pathBelow } from './path-below.ts'
import type { Workspace } from './workspace.ts'

export interface PathRule {
  /** Whether the rule speaks of this very path. */
  matches(path: string): boolean
  /** Whether it may speak of something in this folder. */
  reachesInto(folder: string): boolean
}

/**
 * A rule such as `src/**` or `/etc/hosts`, relative to each root unless it is absolute. A path without wildcards speaks
 * of itself and all below it. What denies looks wider: whatever the case, and in whatever Unicode form.
 */
export async function pathRule(spec: string, { roots }: Workspace, behavior: Opinion): Promise<PathRule> {
  const { default: picomatch } = await optionalPackage('picomatch', () => import('picomatch'))
  const plain = behavior === 'allow' ? asItIs : (text: string) => text.normalize('NFC').toLowerCase()
  const parts = startsOf(spec.trim(), roots).map(([start, pattern]) => {
    const { base, glob } = picomatch.scan(plain(pattern))
    // what stands before the first wildcard is compared as it is: a root may have brackets in its name
    const folder = resolve(plain(start), base)
    return { folder, fits: glob === '' ? () => true : picomatch(glob, { dot: true }) }
  })
  return {
    matches(path) {
      const seen = plain(path)
      return parts.some(({ folder, fits }) => isInside(folder, seen) && fits(pathBelow(folder, seen)))
    },
    reachesInto(path) {
      const seen = plain(path)
      return parts.some(({ folder }) => isInside(folder, seen) || isInside(seen, folder))
    },
  }
}

const asItIs = (text: string): string => text

function startsOf(spec: string, roots: readonly string[]): [start: string, pattern: string][] {
  if (spec.startsWith('~/')) return [[homedir(), spec.slice(2)]]
  if (isAbsolute(spec)) return [['/', spec.replace(/^\/+/, '')]]
  return roots.map((root) => [root, spec.replace(/^\.\//, '')])
}
