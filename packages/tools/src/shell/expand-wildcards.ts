import { join, resolve } from 'node:path'
import { entriesOf } from '../search/ignore-rules.ts'
import type { FolderEntry } from '../workspace/file-system.ts'
import type { Workspace } from '../workspace/workspace.ts'
import { isGlobAt, type PlainWord } from './plain-word.ts'

const maxPaths = 1_000

/**
 * At least the paths that the shell makes of a word with `*` and `?`. Undefined if there are too many, if one is not a
 * plain file or folder, or if one would be read as an option.
 */
export async function expandWildcards(
  word: PlainWord,
  from: string,
  workspace: Workspace,
): Promise<string[] | undefined> {
  const parts = partsOf(word)
  let folders = [word.text.startsWith('/') ? '/' : from]
  for (const [index, { text, pattern }] of parts.entries()) {
    if (pattern === undefined) {
      folders = folders.map((folder) => resolve(folder, text))
      continue
    }
    const isLast = index === parts.length - 1
    const found: string[] = []
    for (const folder of folders) {
      const names = await matching(folder, pattern, isLast, workspace)
      if (names === undefined || (index === 0 && names.some((name) => name.startsWith('-')))) return undefined
      found.push(...names.map((name) => join(folder, name)))
      if (found.length > maxPaths) return undefined
    }
    folders = found
  }
  return folders
}

async function matching(
  folder: string,
  pattern: RegExp,
  isLast: boolean,
  workspace: Workspace,
): Promise<string[] | undefined> {
  const place = await workspace.resolve(folder)
  if (!place.ok || place.path !== folder) return undefined
  const entries = (await entriesOf(workspace, folder)).filter(({ name }) => pattern.test(name))
  const isPlain = ({ kind }: FolderEntry): boolean => kind === 'file' || kind === 'folder'
  if (!entries.every(isPlain)) return undefined
  return entries.filter(({ kind }) => isLast || kind === 'folder').map(({ name }) => name)
}

/** The parts between slashes; those with wildcards as a pattern that matches no less than the shell does. */
function partsOf(word: PlainWord): { text: string; pattern: RegExp | undefined }[] {
  const parts: { text: string; pattern: RegExp | undefined }[] = []
  let [text, source, hasGlob] = ['', '', false]
  const end = (): void => {
    if (text !== '') parts.push({ text, pattern: hasGlob ? new RegExp(`^${source}$`, 's') : undefined })
    ;[text, source, hasGlob] = ['', '', false]
  }
  for (let index = 0; index < word.text.length; index++) {
    const sign = word.text[index] as string
    if (sign === '/') end()
    else {
      const isGlob = isGlobAt(word, index)
      text += sign
      hasGlob ||= isGlob
      source += isGlob ? '.*' : sign.replace(/[\\^$.*+?()[\]{}|]/, '\\$&')
    }
  }
  end()
  return parts
}
