import { join, relative } from 'node:path'
import type { Ignore } from 'ignore'
import type { FolderEntry } from '../workspace/file-system.ts'
import { holdFolder } from '../workspace/hold-folder.ts'
import { pathBelow } from '../workspace/is-inside.ts'
import { readWhole } from '../workspace/read-whole.ts'
import type { Workspace } from '../workspace/workspace.ts'

/** The ignore rules of all folders down to this one; the deepest rule wins. */
export interface IgnoreRules {
  readonly isEmpty: boolean
  isIgnored(path: string, isFolder: boolean): boolean
  /** Adds the rules of a folder above these. */
  with(folder: string, entries: readonly FolderEntry[]): Promise<IgnoreRules>
}

// the second may re-include what the first ignores
const files = ['.gitignore', '.ignore']
const maxBytes = 1_000_000

async function noIgnoreRules(workspace: Workspace): Promise<IgnoreRules> {
  const { default: ignore } = await import('ignore')
  // the package is CommonJS, whose default export some loaders wrap
  const create = (typeof ignore === 'function' ? ignore : (ignore as { default: unknown }).default) as (options: {
    ignorecase: boolean
  }) => Ignore
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
      const rules = create({ ignorecase: false })
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

/** The rules of the folders above, up to the root: they apply here too, unless they ignore the folder itself. */
export async function rulesAbove(workspace: Workspace, folder: string): Promise<IgnoreRules> {
  let rules = await noIgnoreRules(workspace)
  const root = workspace.roots.find((each) => folder.startsWith(`${each}/`))
  if (root === undefined) return rules
  let at = root
  for (const part of relative(root, folder).split('/')) {
    const next = await rules.with(at, await entriesOf(workspace, at))
    // an ignored folder that is named explicitly is searched
    if (!next.isIgnored(folder, true)) rules = next
    at = join(at, part)
  }
  return rules
}

/** A folder that cannot be listed counts as empty; so does one that became a link in the meantime. */
export async function entriesOf(workspace: Workspace, folder: string): Promise<FolderEntry[]> {
  const held = await holdFolder(workspace, folder).catch(() => undefined)
  try {
    return (await held?.entries()) ?? []
  } catch {
    return []
  } finally {
    await held?.close().catch(() => undefined)
  }
}
