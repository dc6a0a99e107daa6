import { join, relative } from 'node:path'
import type { Ignore } from 'ignore'
import type { FolderEntry } from '../../workspace/file-system.ts'
import { optionalPackage } from '../../workspace/optional-package.ts'
import { pathBelow } from '../../workspace/path-below.ts'
import { readWhole } from '../../workspace/read-whole.ts'
import type { Workspace } from '../../workspace/workspace.ts'

/** What the ignore files of the folders down to here say; the deepest has the last word. */
export interface IgnoreRules {
  readonly isEmpty: boolean
  isIgnored(path: string, isFolder: boolean): boolean
  /** With those of one more folder, which holds these. */
  with(folder: string, entries: readonly FolderEntry[]): Promise<IgnoreRules>
}

// the second may take back what the first ignores
const files = ['.gitignore', '.ignore']
const maxBytes = 1_000_000

export async function noIgnoreRules(workspace: Workspace): Promise<IgnoreRules> {
  const { default: ignore } = await optionalPackage('ignore', () => import('ignore'))
  // the package is a module of the old kind, whose default some loaders wrap
  const create = (typeof ignore === 'function' ? ignore : (ignore as { default: unknown }).default) as () => Ignore
  const rulesOf = (chain: readonly { folder: string; rules: Ignore }[]): IgnoreRules => ({
    isEmpty: chain.length === 0,
    isIgnored(path, isFolder) {
      for (const { folder, rules } of chain) {
        const { ignored, unignored } = rules.test(pathBelow(folder, path) + (isFolder ? '/' : ''))
        if (ignored || unignored) return ignored
      }
      return false
    },
    async with(folder, entries) {
      const present = files.filter((file) => entries.some(({ name, kind }) => name === file && kind === 'file'))
      if (present.length === 0) return this
      const rules = create()
      for (const file of present) rules.add(await textOf(workspace, join(folder, file)))
      return rulesOf([{ folder, rules }, ...chain])
    },
  })
  return rulesOf([])
}

async function textOf(workspace: Workspace, path: string): Promise<string> {
  const place = await workspace.resolve(path)
  if (!place.ok || !place.exists) return ''
  const whole = await readWhole(workspace, place, maxBytes).catch(() => undefined)
  return whole === undefined ? '' : Buffer.from(whole.bytes).toString('utf8')
}

/** The rules above a folder, up to its root: they hold in it too, unless they ignore the folder itself. */
export async function rulesAbove(workspace: Workspace, folder: string): Promise<IgnoreRules> {
  let rules = await noIgnoreRules(workspace)
  const root = workspace.roots.find((each) => folder.startsWith(`${each}/`))
  if (root === undefined) return rules
  let at = root
  for (const part of relative(root, folder).split('/')) {
    const next = await rules.with(at, await entriesOf(workspace, at))
    // who asks for an ignored folder by name wants it
    if (!next.isIgnored(folder, true)) rules = next
    at = join(at, part)
  }
  return rules
}

/** What may not be listed holds nothing. */
export const entriesOf = ({ fileSystem }: Workspace, folder: string): Promise<FolderEntry[]> =>
  fileSystem.readFolder(folder).catch(() => [])
