/** A file system's report about an entry that is not opened. */
export interface FileFacts {
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  readonly size: number
  readonly mode: number
  readonly owner: { readonly uid: number; readonly gid: number }
  readonly mtimeNs: bigint
  /** Device and inode: equal for the same entry, whatever its name. */
  readonly identity: string
}

export interface OpenFile {
  facts(): Promise<FileFacts>
  /** Number of bytes read into the buffer; 0 at the end. */
  read(buffer: Uint8Array, position: number): Promise<number>
  write(bytes: Uint8Array): Promise<void>
  chmod(mode: number): Promise<void>
  chown(uid: number, gid: number): Promise<void>
  /** Resolves when the written data is on disk. */
  sync(): Promise<void>
  close(): Promise<void>
}

export interface FolderEntry {
  readonly name: string
  readonly kind: FileFacts['kind']
}

/**
 * A folder that is held open: it stays the same folder, even if its path is replaced. Takes names, not paths, and does
 * not follow links.
 */
export interface OpenFolder {
  lstat(name: string): Promise<FileFacts>
  /** Does not block, not even for the writer of a pipe. */
  openToRead(name: string): Promise<OpenFile>
  /** Fails if the name exists. */
  openNew(name: string, mode: number): Promise<OpenFile>
  openFolder(name: string): Promise<OpenFolder>
  entries(): Promise<FolderEntry[]>
  /** Resolves if the name exists already. */
  makeFolder(name: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** Creates a hard link; fails if the name exists. */
  link(from: string, to: string): Promise<void>
  remove(name: string): Promise<void>
  close(): Promise<void>
}

/** Everything the tools need from a file system. Tests pass one that records calls. */
export interface FileSystem {
  realpath(path: string): Promise<string>
  /** Without it, create the set with `await openTools(…)`. */
  realpathSync?(path: string): string
  /** Does not follow links. */
  lstat(path: string): Promise<FileFacts>
  /**
   * Opens and holds the folder at this path. Fails with the code `EMOVED` if links lead to another place than the path
   * says. Without it, paths are checked before and after, which leaves a race.
   */
  openFolder?(path: string): Promise<OpenFolder>
  /** Does not follow a link at the end of the path, and does not block. */
  openToRead(path: string): Promise<OpenFile>
  /** Fails if the path exists. */
  openNew(path: string, mode: number): Promise<OpenFile>
  readFolder(path: string): Promise<FolderEntry[]>
  /** Its parent exists. Resolves if the folder exists already. */
  makeFolder(path: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** Creates a hard link; fails if the path exists. */
  link(from: string, to: string): Promise<void>
  remove(path: string): Promise<void>
}
