import { createHash, randomBytes } from 'node:crypto'
import { chmod, lstat, mkdir, open, readdir, rename, rm, stat } from 'node:fs/promises'
import { tmpdir, userInfo } from 'node:os'
import { join, resolve } from 'node:path'
import { invalidOption, unknownOption } from '../base/invalid-option.ts'
import type { StoredResults } from '../journal/session-results.ts'
import type { LongResult, ResultStore } from '../results/long-result.ts'
import { fileClock, syncFolder } from './folder.ts'

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

export interface FileResultStore extends ResultStore, StoredResults {
  save(result: LongResult): Promise<{ path: string }>
  /** Removes old files that no session refers to, and returns their number. Never rejects. */
  sweep(): Promise<number>
}

const week = 7 * 24 * 60 * 60 * 1000
const ownName = /^[0-9a-f]{32}\.txt(\.[0-9a-f]+\.tmp)?$/

/** Keeps long results as files that only this user can read. */
export function fileResultStore(options: FileResultStoreOptions = {}): FileResultStore {
  const { folder, maxAgeMs = week } = checked(options)
  const home = resolve(folder ?? join(tmpdir(), `signalbox-results-${userInfo().uid}`))
  let ready: Promise<void> | undefined
  const keepers: (() => Promise<ReadonlySet<string> | undefined>)[] = []
  const sweep = () => removeOlder(home, maxAgeMs, keepers)
  const prepare = async () => {
    await makePrivate(home)
    await sweep()
  }
  return {
    sweep,
    keepFor: (names) => void keepers.push(names),
    namesIn: (text) => text.match(/\b[0-9a-f]{32}\.txt\b/g) ?? [],
    async remove(names) {
      await Promise.all(names.filter((name) => ownName.test(name)).map((name) => rm(join(home, name), { force: true })))
    },
    async save(result) {
      ready ??= prepare()
      await ready.catch((error: unknown) => {
        ready = undefined
        throw error
      })
      const path = join(home, `${nameOf(result)}.txt`)
      await writeWhole(path, result.text)
      await syncFolder(home)
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
    await file.sync()
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

async function removeOlder(
  folder: string,
  maxAgeMs: number,
  keepers: readonly (() => Promise<ReadonlySet<string> | undefined>)[],
): Promise<number> {
  const names = await readdir(folder).catch((): string[] => [])
  const own = names.filter((name) => ownName.test(name))
  if (own.length === 0) return 0
  try {
    const limit = (await fileClock(folder)) - maxAgeMs
    const old = (await Promise.all(own.map((name) => isOlder(folder, name, limit)))).flat()
    if (old.length === 0) return 0
    const kept = await Promise.all(keepers.map((names) => names()))
    const removed = old.filter((name) => kept.every((names) => names?.has(name) === false))
    return (await Promise.all(removed.map((name) => removeFile(join(folder, name))))).filter(Boolean).length
  } catch {
    // the folder cannot be written, or a session that cannot be read may refer to any of them
    return 0
  }
}

const isOlder = (folder: string, name: string, limit: number): Promise<string[]> =>
  stat(join(folder, name)).then(
    ({ mtimeMs }) => (mtimeMs < limit ? [name] : []),
    () => [],
  )

const removeFile = (path: string): Promise<boolean> =>
  rm(path).then(
    () => true,
    () => false,
  )
