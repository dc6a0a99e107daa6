import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { readField } from '../errors/read-field.ts'
import { SignalboxError } from '../errors/signalbox-error.ts'
import { describeValue } from '../text/describe-value.ts'
import type { FileSystem } from './file-system.ts'
import { isInside } from './is-inside.ts'
import { nodeFileSystem } from './node-file-system.ts'

export interface WorkspaceOptions {
  /** The folder that the tools work in. Fixed from here on: nothing that a model says can change it. */
  root: string
  /** Further folders that they may work in. */
  moreRoots?: readonly string[] | undefined
  /** @default the file system of this machine */
  fileSystem?: FileSystem | undefined
}

/** Where a path leads, once all links are followed; or why it leads nowhere. */
export type Place =
  | {
      readonly ok: true
      readonly path: string
      /** The same as it was called, before links were followed. */
      readonly called: string
      readonly shown: string
      readonly exists: boolean
    }
  | { readonly ok: false; readonly message: string }
export type FoundPlace = Extract<Place, { ok: true }>

/** The folders that tools may work in, and the only way to a path inside them. */
export interface Workspace {
  readonly root: string
  /** Real paths, the root first. */
  readonly roots: readonly string[]
  readonly fileSystem: FileSystem
  resolve(path: string): Promise<Place>
  /** A path as people read it: below the root without it. */
  show(path: string): string
}

const maxPath = 4_096
const systemFolders = ['/proc', '/sys', '/dev']

export function createWorkspace({ root, moreRoots = [], fileSystem = nodeFileSystem }: WorkspaceOptions): Workspace {
  const given = [root, ...moreRoots].map((each, index) => checkRoot(each, index === 0 ? 'root' : 'moreRoots'))
  const roots = given.map((each) => realRoot(each, fileSystem))
  const first = roots[0] as string
  const workspace: Workspace = {
    root: first,
    roots,
    fileSystem,
    show: (path) => (isInside(first, path) ? relative(first, path) || '.' : path),
    async resolve(path) {
      const problem = problemOf(path)
      if (problem !== undefined) return refuse(problem)
      const wanted = throughGivenRoot(resolve(first, path), given, roots)
      // what is outside by its name alone is not even looked at
      if (wanted === undefined) return outside(path, roots)
      return follow(wanted, path, workspace)
    },
  }
  return workspace
}

function checkRoot(root: unknown, option: string): string {
  if (typeof root === 'string' && root !== '') return resolve(root)
  throw new SignalboxError('invalid_option', `${option} must name a folder, but got ${describeValue(root, 80)}.`)
}

function realRoot(root: string, fileSystem: FileSystem): string {
  try {
    return fileSystem.realpathSync(root)
  } catch (error) {
    throw new SignalboxError('invalid_option', `The root ${root} cannot be used: is it there?`, { cause: error })
  }
}

function problemOf(path: unknown): string | undefined {
  if (typeof path !== 'string' || path === '') return 'The path is empty.'
  if (path.includes('\0')) return 'A path cannot hold a NUL character.'
  if (path.length > maxPath) return `The path is longer than ${maxPath} characters.`
  if (/^~($|[/\\])/.test(path))
    return 'The tilde is not expanded here: write the path out, or relative to the workspace.'
  return undefined
}

/** A root may be called by the name it was given, which may lead through links itself. */
function throughGivenRoot(path: string, given: readonly string[], roots: readonly string[]): string | undefined {
  if (roots.some((root) => isInside(root, path))) return path
  const index = given.findIndex((root) => isInside(root, path))
  return index < 0 ? undefined : join(roots[index] as string, relative(given[index] as string, path))
}

/** Follows the links of the deepest part that exists; what does not exist has none. */
async function follow(wanted: string, asked: string, workspace: Workspace): Promise<Place> {
  const { roots, fileSystem } = workspace
  let missing = ''
  for (let at = wanted; ; at = dirname(at)) {
    try {
      const real = await fileSystem.realpath(at)
      if (!roots.some((root) => isInside(root, real))) return outside(asked, roots)
      if (systemFolders.some((folder) => isInside(folder, real))) {
        return refuse(`${asked} is not a file on a disk but a view into the system, which is not for reading here.`)
      }
      const path = missing === '' ? real : join(real, missing)
      return { ok: true, path, called: wanted, shown: workspace.show(path), exists: missing === '' }
    } catch (error) {
      const problem = await whyNot(error, at, asked, workspace)
      if (problem !== undefined) return refuse(problem)
    }
    missing = join(relative(dirname(at), at), missing)
  }
}

/** Nothing where the part is simply not there, so that its parent decides. */
async function whyNot(error: unknown, at: string, asked: string, workspace: Workspace): Promise<string | undefined> {
  const code = readField(error, 'code')
  if (code === 'ENOTDIR') return `${asked}: something on the way to it is a file, not a folder.`
  if (code === 'ELOOP') return `${asked}: its symbolic links lead in a circle.`
  if (code === 'ENAMETOOLONG') return `${asked.slice(0, 80)}…: the name is too long.`
  if (code !== 'ENOENT') return `${asked} cannot be looked at (${typeof code === 'string' ? code : 'unknown error'}).`
  if (workspace.roots.includes(at)) return `The folder of the workspace, ${at}, is not there any more.`
  try {
    await workspace.fileSystem.lstat(at)
  } catch {
    return undefined
  }
  // it is there and yet leads nowhere: to write through it would make a file who knows where
  return `${asked} goes through a symbolic link that leads nowhere.`
}

const refuse = (message: string): Place => ({ ok: false, message })

function outside(asked: string, roots: readonly string[]): Place {
  const kind = isAbsolute(asked) ? '' : ' (relative paths start there)'
  return refuse(`${asked} is outside the workspace. Tools can only reach files below ${roots.join(', ')}${kind}.`)
}
