import { dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { describeValue, SignalboxError } from 'signalbox'
import { readField } from '../read-field.ts'
import type { FileSystem } from './file-system.ts'
import { isInside } from './is-inside.ts'
import { nodeFileSystem } from './node-file-system.ts'

export interface WorkspaceOptions {
  /** The folder that the tools work in. Fixed: a model cannot change it. */
  root: string
  /** Further folders that the tools may work in. */
  moreRoots?: readonly string[] | undefined
  /** @default the local file system */
  fileSystem?: FileSystem | undefined
}

/** The real path after following all links, or the reason why there is none. */
export type Place =
  | {
      readonly ok: true
      readonly path: string
      /** The path as requested, before links were followed. */
      readonly called: string
      readonly shown: string
      readonly exists: boolean
    }
  | { readonly ok: false; readonly message: string }
export type FoundPlace = Extract<Place, { ok: true }>

/** The folders that tools may work in. All paths are resolved through this. */
export interface Workspace {
  readonly root: string
  /** Real paths, the root first. */
  readonly roots: readonly string[]
  readonly fileSystem: FileSystem
  resolve(path: string): Promise<Place>
  /** A path for display: relative if it is below the root. */
  show(path: string): string
}

const maxPath = 4_096
const systemFolders = ['/proc', '/sys', '/dev']

export function createWorkspace(options: WorkspaceOptions): Workspace {
  const { fileSystem = nodeFileSystem } = options
  const given = givenRoots(options)
  const { realpathSync } = fileSystem
  if (realpathSync === undefined) {
    throw new SignalboxError(
      'invalid_option',
      'This fileSystem has no realpathSync. Use await openTools(…) or await openWorkspace(…) instead of createTools and createWorkspace.',
    )
  }
  const roots = given.map((root) => {
    try {
      return realpathSync(root)
    } catch (error) {
      throw unusableRoot(root, error)
    }
  })
  return workspaceOf(given, roots, fileSystem)
}

/** Like createWorkspace, for any file system, such as a remote one. */
export async function openWorkspace(options: WorkspaceOptions): Promise<Workspace> {
  const { fileSystem = nodeFileSystem } = options
  const given = givenRoots(options)
  const roots = given.map((root) =>
    fileSystem.realpath(root).catch((error: unknown) => {
      throw unusableRoot(root, error)
    }),
  )
  return workspaceOf(given, await Promise.all(roots), fileSystem)
}

const givenRoots = ({ root, moreRoots = [] }: WorkspaceOptions): string[] =>
  [root, ...moreRoots].map((each, index) => checkRoot(each, index === 0 ? 'root' : 'moreRoots'))

function workspaceOf(given: readonly string[], roots: readonly string[], fileSystem: FileSystem): Workspace {
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
      // a path that is outside by name is not touched at all
      if (wanted === undefined) return outside(path, roots)
      return follow(wanted, path, workspace)
    },
  }
  return workspace
}

function checkRoot(root: unknown, option: string): string {
  if (typeof root === 'string' && root !== '') return resolve(root)
  throw new SignalboxError(
    'invalid_option',
    `Option ${option}: expected the path of a folder, received ${describeValue(root, 80)}.`,
  )
}

const unusableRoot = (root: string, cause: unknown): Error =>
  new SignalboxError('invalid_option', `The root ${root} cannot be opened. Check that the folder exists.`, { cause })

function problemOf(path: unknown): string | undefined {
  if (typeof path !== 'string' || path === '') return 'The path is empty. Pass a file path.'
  if (path.includes('\0')) return 'The path contains a NUL character. Remove it.'
  if (path.length > maxPath) return `The path is longer than ${maxPath} characters.`
  if (/^~($|[/\\])/.test(path))
    return 'The tilde is not expanded. Use an absolute path, or one relative to the workspace.'
  return undefined
}

/** A root may be addressed by the name it was given, which may itself contain links. */
function throughGivenRoot(path: string, given: readonly string[], roots: readonly string[]): string | undefined {
  if (roots.some((root) => isInside(root, path))) return path
  const index = given.findIndex((root) => isInside(root, path))
  return index < 0 ? undefined : join(roots[index] as string, relative(given[index] as string, path))
}

/** Resolves the links of the deepest part that exists. */
async function follow(wanted: string, asked: string, workspace: Workspace): Promise<Place> {
  const { roots, fileSystem } = workspace
  let missing = ''
  for (let at = wanted; ; at = dirname(at)) {
    try {
      const real = await fileSystem.realpath(at)
      if (!roots.some((root) => isInside(root, real))) return outside(asked, roots)
      if (systemFolders.some((folder) => isInside(folder, real))) {
        return refuse(`${asked} is a system pseudo-file and cannot be read.`)
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

/** Undefined if the part just does not exist, so that its parent decides. */
async function whyNot(error: unknown, at: string, asked: string, workspace: Workspace): Promise<string | undefined> {
  const code = readField(error, 'code')
  if (code === 'ENOTDIR') return `${asked}: a parent of the path is a file, not a folder.`
  if (code === 'ELOOP') return `${asked}: its symbolic links form a loop.`
  if (code === 'ENAMETOOLONG') return `${asked.slice(0, 80)}…: the name is too long.`
  if (code !== 'ENOENT') return `${asked} cannot be accessed (${typeof code === 'string' ? code : 'unknown error'}).`
  if (workspace.roots.includes(at)) return `The workspace folder ${at} no longer exists.`
  try {
    await workspace.fileSystem.lstat(at)
  } catch {
    return undefined
  }
  // a dangling link: writing through it would create a file at an unchecked place
  return `${asked} goes through a broken symbolic link.`
}

const refuse = (message: string): Place => ({ ok: false, message })

function outside(asked: string, roots: readonly string[]): Place {
  const kind = isAbsolute(asked) ? '' : ' (relative paths start there)'
  return refuse(`${asked} is outside the workspace. Tools can only reach files below ${roots.join(', ')}${kind}.`)
}
