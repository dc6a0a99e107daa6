import { createHash, randomBytes } from 'node:crypto'
import { chmod, lstat, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { invalidOption, unknownOption } from '../base/invalid-option.ts'
import type { LongResult, ResultStore } from '../results/result-store.ts'

export interface FileResultStoreOptions {
  /**
   * The folder for the files. Created if missing, readable only by this user.
   * @default a folder of this user among the temporary files
   */
  folder?: string | undefined
  /**
   * Older files are removed before the first save, and by `sweep`.
   * @default 7 days
   */
  maxAgeMs?: number | undefined
}

export interface FileResultStore extends ResultStore {
  save(result: LongResult): Promise<{ path: string }>
  /** Removes old files and returns their number. Never rejects. */
  sweep(): Promise<number>
}

const week = 7 * 24 * 60 * 60 * 1000
const ownName = /^[0-9a-f]{32}\.txt(\.[0-9a-f]+\.tmp)?$/

/** Keeps long results as files that only this user can read. */
export function fileResultStore(options: FileResultStoreOptions = {}): FileResultStore {
  const { folder, maxAgeMs = week } = checked(options)
  const home = resolve(folder ?? join(tmpdir(), `signalbox-results-${userInfo().uid}`))
  let ready: Promise<void> | undefined
  const sweep = () => removeOlder(home, maxAgeMs)
  const prepare = async () => {
    await makePrivate(home)
    await sweep()
  }
  return {
    sweep,
    async save(result) {
      ready ??= prepare()
      await ready.catch((error: unknown) => {
        ready = undefined
        throw error
      })
      const path = join(home, `${nameOf(result)}.txt`)
      await writeWhole(path, result.text)
      return { path }
    },
  }
}

/** Unknown options throw: with a misspelt `folder`, the files would go to the default folder unnoticed. */
function checked(options: FileResultStoreOptions): FileResultStoreOptions {
  const { folder, maxAgeMs = week, ...others } = options
  const [unknown] = Object.keys(others)
  if (unknown !== undefined) unknownOption(unknown, ['folder', 'maxAgeMs'])
  if (folder !== undefined && typeof folder !== 'string') invalidOption('folder', 'a path', folder)
  if (!(maxAgeMs >= 0)) invalidOption('maxAgeMs', 'milliseconds', maxAgeMs)
  return options
}

/** A hash, so that no text from a model becomes part of a path. The same result has the same name. */
const nameOf = ({ toolUseID, toolName, text }: LongResult): string =>
  createHash('sha256')
    .update(JSON.stringify([toolName, toolUseID]))
    .update(text)
    .digest('hex')
    .slice(0, 32)

/** Writes atomically: a process that ends in between leaves a temporary file, never half a result. */
async function writeWhole(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  const file = await open(temporary, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.close()
    await rename(temporary, path)
  } catch (error) {
    await file.close().catch(() => undefined)
    await rm(temporary, { force: true }).catch(() => undefined)
    throw error
  }
}

/** Other users may be able to write to the parent folder, so the folder could be a link or belong to someone else. */
async function makePrivate(folder: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 })
  const found = await lstat(folder)
  if (!found.isDirectory())
    throw new Error(`Cannot store results in ${folder}: expected a folder, found something else. Pass another folder.`)
  const { uid } = userInfo()
  if (uid >= 0 && found.uid !== uid)
    throw new Error(`Cannot store results in ${folder}: it belongs to another user. Pass another folder.`)
  await chmod(folder, 0o700)
}

async function removeOlder(folder: string, maxAgeMs: number): Promise<number> {
  const names = await readdir(folder).catch((): string[] => [])
  const limit = Date.now() - maxAgeMs
  const removed = await Promise.all(
    names.filter((name) => ownName.test(name)).map((name) => removeIfOlder(join(folder, name), limit)),
  )
  return removed.filter(Boolean).length
}

async function removeIfOlder(path: string, limit: number): Promise<boolean> {
  try {
    if ((await stat(path)).mtimeMs >= limit) return false
    await rm(path)
    return true
  } catch {
    return false
  }
}
