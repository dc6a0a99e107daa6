import { existsSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join, relative, sep } from 'node:path'

const name = 'AGENTS.md'
const maxChars = 100_000

/** The AGENTS.md files from the top of the repository down to this folder. Undefined if there are none. */
export function projectInstructions(root: string): string | undefined {
  const folders = foldersDownTo(root)
  const top = realpathSync(folders[0] as string)
  const texts = folders.flatMap((folder) => {
    const text = read(join(folder, name), top)
    return text === undefined ? [] : [`${join(relative(root, folder), name)}:\n${text}`]
  })
  return texts.length === 0 ? undefined : `Follow these instructions of the project.\n\n${texts.join('\n\n')}`
}

/** The folder itself, and its parents up to the one with a .git. */
function foldersDownTo(root: string): string[] {
  const folders = [root]
  for (let at = root; !existsSync(join(at, '.git')); at = dirname(at)) {
    if (dirname(at) === at) return [root]
    folders.unshift(dirname(at))
  }
  return folders
}

/** A link that leads out of the repository is not followed: it could send any file of the user to the model. */
function read(path: string, top: string): string | undefined {
  try {
    if (!realpathSync(path).startsWith(top.endsWith(sep) ? top : top + sep)) return undefined
    const text = readFileSync(path, 'utf8').trim()
    return text.length > maxChars
      ? `${text.slice(0, maxChars)}\n[The rest of ${name} was truncated.]`
      : text || undefined
  } catch {
    return undefined
  }
}
