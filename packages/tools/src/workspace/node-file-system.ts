import { type BigIntStats, constants, type Dirent, readlinkSync, realpathSync } from 'node:fs'
import { type FileHandle, link, lstat, mkdir, open, readdir, readlink, realpath, rename, rm } from 'node:fs/promises'
import { readField } from '../read-field.ts'
import type { FileFacts, FileSystem, FolderEntry, OpenFile, OpenFolder } from './file-system.ts'

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL, O_DIRECTORY = 0 } = constants
// not every platform has these two
const noFollow = constants.O_NOFOLLOW ?? 0
const noWait = constants.O_NONBLOCK ?? 0
/** Linux's O_PATH, which Node does not export: a handle on an entry, without reading it or blocking. */
const placeOnly = 0o10000000

/** The local file system. */
export const nodeFileSystem: FileSystem = {
  realpath: (path) => realpath(path),
  realpathSync: (path) => realpathSync(path),
  lstat: async (path) => factsOf(await lstat(path, { bigint: true })),
  ...(hasDescriptorPaths() && { openFolder }),
  openToRead: async (path) => openFile(await open(path, O_RDONLY | noFollow | noWait)),
  openNew: async (path, mode) => openFile(await open(path, O_WRONLY | O_CREAT | O_EXCL | noFollow, mode)),
  readFolder: async (path) => (await readdir(path, { withFileTypes: true })).map(entryOf),
  makeFolder,
  rename: (from, to) => rename(from, to),
  link: (from, to) => link(from, to),
  remove: (path) => rm(path, { force: true }),
}

/** Not with `recursive`: Node then tries for ever in a folder that was removed while it was held open. */
async function makeFolder(path: string): Promise<void> {
  await mkdir(path).catch((error: unknown) => {
    if (readField(error, 'code') !== 'EEXIST') throw error
  })
}

/** Whether names can be resolved from an open folder through `/proc/self/fd`; Node has no `openat`. */
function hasDescriptorPaths(): boolean {
  try {
    return process.platform === 'linux' && readlinkSync('/proc/self/fd/0') !== ''
  } catch {
    return false
  }
}

async function openFolder(this: FileSystem, path: string): Promise<OpenFolder> {
  const handle = await open(path, placeOnly | O_DIRECTORY)
  try {
    // the kernel reports the real path of the opened folder
    const where = await readlink(`/proc/self/fd/${handle.fd}`)
    if (where === path) return openedFolder(this, handle)
  } catch (error) {
    await handle.close()
    throw error
  }
  await handle.close()
  throw Object.assign(new Error(`${path} leads elsewhere`), { code: 'EMOVED' })
}

/** Calls the functions of the given file system, so that a wrapper sees every operation. */
function openedFolder(fileSystem: FileSystem, handle: FileHandle): OpenFolder {
  const here = `/proc/self/fd/${handle.fd}`
  const at = (name: string): string => {
    if (name === '' || name === '.' || name === '..' || name.includes('/'))
      throw new Error(`${name} is not a file name`)
    return `${here}/${name}`
  }
  return {
    lstat: async (name) => fileSystem.lstat(at(name)),
    openToRead: async (name) => fileSystem.openToRead(at(name)),
    openNew: async (name, mode) => fileSystem.openNew(at(name), mode),
    openFolder: async (name) => openedFolder(fileSystem, await open(at(name), placeOnly | O_DIRECTORY | noFollow)),
    entries: () => fileSystem.readFolder(here),
    makeFolder: async (name) => fileSystem.makeFolder(at(name)),
    rename: async (from, to) => fileSystem.rename(at(from), at(to)),
    link: async (from, to) => fileSystem.link(at(from), at(to)),
    remove: async (name) => fileSystem.remove(at(name)),
    close: () => handle.close(),
  }
}

function openFile(handle: FileHandle): OpenFile {
  return {
    facts: async () => factsOf(await handle.stat({ bigint: true })),
    read: async (buffer, position) => (await handle.read(buffer, 0, buffer.length, position)).bytesRead,
    write: (bytes) => handle.writeFile(bytes),
    chmod: (mode) => handle.chmod(mode),
    chown: (uid, gid) => handle.chown(uid, gid),
    sync: () => handle.sync(),
    close: () => handle.close(),
  }
}

function factsOf(stats: BigIntStats): FileFacts {
  return {
    kind: kindOf(stats),
    size: Number(stats.size),
    mode: Number(stats.mode & 0o7777n),
    owner: { uid: Number(stats.uid), gid: Number(stats.gid) },
    mtimeNs: stats.mtimeNs,
    identity: `${stats.dev}:${stats.ino}`,
  }
}

const entryOf = (entry: Dirent): FolderEntry => ({ name: entry.name, kind: kindOf(entry) })

function kindOf(entry: Pick<Dirent | BigIntStats, 'isFile' | 'isDirectory' | 'isSymbolicLink'>): FileFacts['kind'] {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  return entry.isSymbolicLink() ? 'link' : 'other'
}
