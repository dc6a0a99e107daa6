import { randomBytes } from 'node:crypto'

/** An open log file. */
export interface DiskFile {
  size(): number
  /** Nobody has removed it. */
  isNamed(): boolean
  /** The byte at a position; undefined beyond the end. */
  byteAt(position: number): number | undefined
  /** Undefined if the data is written when it returns. */
  write(data: Uint8Array, position: number): Promise<void> | undefined
  /** Resolves when everything written is on the disk. */
  sync(): Promise<void>
  truncate(length: number): Promise<void>
  close(): Promise<void>
}

/** The file system as the file store uses it. Tests have one that loses power, runs full or fails. */
export interface Disk {
  /** Creates a folder that only this user can use. Keeps an existing one. */
  makeFolder(path: string): Promise<void>
  /** The names in a folder; none if it does not exist. */
  list(folder: string): Promise<string[]>
  /** The content; undefined if the file does not exist. */
  read(path: string): Promise<Uint8Array | undefined>
  /** Writes a new file that only this user can read, and makes its content durable. Fails if it exists. */
  write(path: string, data: Uint8Array): Promise<void>
  /** Opens a log for writing; creates it if it does not exist. */
  open(path: string): Promise<DiskFile>
  /** Gives a file another name; false if that name is taken. */
  link(from: string, to: string): Promise<boolean>
  rename(from: string, to: string): Promise<void>
  /** Removes a file, or a folder with its content. Does nothing if it does not exist. */
  remove(path: string): Promise<void>
  /** When a file was last written, in milliseconds since 1970; in the future if it does not exist. */
  changedAt(path: string): Promise<number>
  /** The time by the clock of `changedAt`, which may be another one than that of this machine. */
  now(folder: string): Promise<number>
  /** Makes the names in a folder durable. */
  syncFolder(folder: string): Promise<void>
  /** Calls `hint` when something in the folder may have changed. May miss changes. */
  watch(folder: string, hint: () => void): () => void
}

/** The end of the name of a file that is being written. One that is left behind is removed by `sweep`. */
export const temporaryEnd = /\.[0-9a-f]{12}\.tmp$/

/** Writes a durable temporary file, then calls `place` to give it its final name. */
export async function writeWhole<T>(
  disk: Disk,
  path: string,
  data: Uint8Array,
  place: (temporary: string) => Promise<T>,
): Promise<T> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}.tmp`
  try {
    await disk.write(temporary, data)
    return await place(temporary)
  } finally {
    // after a rename there is nothing left; a failure here must not hide another
    await disk.remove(temporary).catch(() => undefined)
  }
}
