/** What a file system knows of something without opening it. */
export interface FileFacts {
  readonly kind: 'file' | 'folder' | 'link' | 'other'
  readonly size: number
  readonly mode: number
  readonly owner: { readonly uid: number; readonly gid: number }
  readonly mtimeNs: bigint
  /** Device and inode: the same thing has the same, whatever it is called. */
  readonly identity: string
}

export interface OpenFile {
  facts(): Promise<FileFacts>
  /** How many bytes were read into the buffer; 0 at the end. */
  read(buffer: Uint8Array, position: number): Promise<number>
  write(bytes: Uint8Array): Promise<void>
  chmod(mode: number): Promise<void>
  chown(uid: number, gid: number): Promise<void>
  /** Until what was written is on the disk. */
  sync(): Promise<void>
  close(): Promise<void>
}

export interface FolderEntry {
  readonly name: string
  readonly kind: FileFacts['kind']
}

/** All that the tools ask of a file system. A test hands in one that watches. */
export interface FileSystem {
  realpath(path: string): Promise<string>
  realpathSync(path: string): string
  /** Follows no link. */
  lstat(path: string): Promise<FileFacts>
  /** Follows no link at the end of the path, and waits for nobody. */
  openToRead(path: string): Promise<OpenFile>
  /** Fails where something stands already. */
  openNew(path: string, mode: number): Promise<OpenFile>
  readFolder(path: string): Promise<FolderEntry[]>
  /** With all folders above it. */
  makeFolder(path: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  /** A second name for a file; fails where something stands already. */
  link(from: string, to: string): Promise<void>
  remove(path: string): Promise<void>
}
