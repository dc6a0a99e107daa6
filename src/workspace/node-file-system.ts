import { type BigIntStats, constants, type Dirent, realpathSync } from 'node:fs'
import { type FileHandle, link, lstat, mkdir, open, readdir, realpath, rename, rm } from 'node:fs/promises'
import type { FileFacts, FileSystem, OpenFile } from './file-system.ts'

const { O_RDONLY, O_WRONLY, O_CREAT, O_EXCL } = constants
// not every platform has these two
const noFollow = constants.O_NOFOLLOW ?? 0
const noWait = constants.O_NONBLOCK ?? 0

/** The file system of this machine. */
export const nodeFileSystem: FileSystem = {
  realpath: (path) => realpath(path),
  realpathSync: (path) => realpathSync(path),
  lstat: async (path) => factsOf(await lstat(path, { bigint: true })),
  openToRead: async (path) => openFile(await open(path, O_RDONLY | noFollow | noWait)),
  openNew: async (path, mode) => openFile(await open(path, O_WRONLY | O_CREAT | O_EXCL | noFollow, mode)),
  readFolder: async (path) =>
    (await readdir(path, { withFileTypes: true })).map((entry) => ({ name: entry.name, kind: kindOf(entry) })),
  makeFolder: async (path) => void (await mkdir(path, { recursive: true })),
  rename: (from, to) => rename(from, to),
  link: (from, to) => link(from, to),
  remove: (path) => rm(path, { force: true }),
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

function kindOf(entry: Pick<Dirent | BigIntStats, 'isFile' | 'isDirectory' | 'isSymbolicLink'>): FileFacts['kind'] {
  if (entry.isFile()) return 'file'
  if (entry.isDirectory()) return 'folder'
  return entry.isSymbolicLink() ? 'link' : 'other'
}
