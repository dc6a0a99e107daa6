import { fdatasync, fstatSync, readlinkSync, readSync, watch, writeSync } from 'node:fs'
import { chmod, type FileHandle, link, lstat, mkdir, open, readdir, readFile, rename, rm, stat } from 'node:fs/promises'
import { platform, userInfo } from 'node:os'
import { fileClock, syncFolder } from '../folder.ts'
import type { Disk, DiskFile } from './disk.ts'

/** The disk of this machine. */
export const nodeDisk: Disk = {
  async makeFolder(path) {
    await mkdir(path, { recursive: true, mode: 0o700 })
    const found = await lstat(path)
    if (!found.isDirectory()) throw new Error(`${path} is not a folder`)
    const { uid } = userInfo()
    if (uid >= 0 && found.uid !== uid) throw new Error(`${path} belongs to another user`)
    if ((found.mode & 0o777) !== 0o700) await chmod(path, 0o700)
  },
  list: (folder) => readdir(folder).catch((error: unknown) => (isMissing(error) ? [] : Promise.reject(error))),
  read: (path) => readFile(path).catch((error: unknown) => (isMissing(error) ? undefined : Promise.reject(error))),
  async write(path, data) {
    const file = await open(path, 'wx', 0o600)
    try {
      await writeAll(file, data, 0)
      await file.sync()
    } finally {
      await file.close()
    }
  },
  async open(path) {
    // not O_APPEND: a write at a known position can never follow data of another owner
    const file = await open(path, 'r+').catch((error: unknown) =>
      isMissing(error) ? open(path, 'wx+', 0o600) : Promise.reject(error),
    )
    return logFile(file)
  },
  async link(from, to) {
    try {
      await link(from, to)
      return true
    } catch (error) {
      if (codeOf(error) === 'EEXIST') return false
      throw error
    }
  },
  rename,
  remove: (path) => rm(path, { recursive: true, force: true }),
  changedAt: (path) =>
    stat(path).then(
      ({ mtimeMs }) => mtimeMs,
      () => Number.POSITIVE_INFINITY,
    ),
  now: fileClock,
  syncFolder,
  watch(folder, hint) {
    try {
      const watcher = watch(folder, { persistent: false }, hint)
      watcher.on('error', () => watcher.close())
      return () => watcher.close()
    } catch {
      // too many watchers, or none on this file system: the owner polls
      return () => undefined
    }
  },
}

/** A longer write goes to a thread, so that it does not hold up the process. */
const directBytes = 65_536

const oneByte = new Uint8Array(1)

const codeOf = (error: unknown): unknown => (error as { code?: unknown }).code
const isMissing = (error: unknown): boolean => codeOf(error) === 'ENOENT'

/**
 * Since Linux 6.13, a write after `fstat` takes a timestamp of its own, and the next `fdatasync` takes a quarter longer. The link of
 * an open file tells as much.
 */
function isNamed(fd: number): boolean {
  try {
    if (platform() === 'linux' && !readlinkSync(`/proc/self/fd/${fd}`).endsWith(' (deleted)')) return true
  } catch {
    // a system without that folder
  }
  return fstatSync(fd).nlink > 0
}

function logFile(file: FileHandle): DiskFile {
  return {
    size: () => fstatSync(file.fd).size,
    isNamed: () => isNamed(file.fd),
    byteAt: (position) => (readSync(file.fd, oneByte, 0, 1, position) === 0 ? undefined : oneByte[0]),
    write(data, position) {
      // a few kilobytes go to the cache of the system in microseconds; a thread would take longer to begin
      const done = data.length <= directBytes ? writeSync(file.fd, data, 0, data.length, position) : 0
      return done < data.length ? writeAll(file, data.subarray(done), position + done) : undefined
    },
    // the promise of a file handle costs several times this one
    sync: () => new Promise((resolve, reject) => fdatasync(file.fd, (error) => (error ? reject(error) : resolve()))),
    truncate: (length) => file.truncate(length),
    close: () => file.close(),
  }
}

/** A single write may write only a part of its data. */
async function writeAll(file: FileHandle, data: Uint8Array, position: number): Promise<void> {
  for (let done = 0; done < data.length; ) {
    const { bytesWritten } = await file.write(data, done, data.length - done, position + done)
    done += bytesWritten
  }
}
