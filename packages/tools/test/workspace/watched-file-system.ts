import { realpathSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { FileSystem } from '../../src/workspace/file-system.ts'
import { nodeFileSystem } from '../../src/workspace/node-file-system.ts'

export interface Touch {
  readonly how: keyof FileSystem
  /** The target of the path at that moment, with all links resolved. */
  readonly where: string
}

/** The real file system, with a log of everything that was opened, created, moved or removed, and its real path. */
export function watchedFileSystem(): { fileSystem: FileSystem; touched: Touch[] } {
  const touched: Touch[] = []
  const note = (how: keyof FileSystem, path: string): void => void touched.push({ how, where: trueLocation(path) })
  const watch = <Name extends keyof FileSystem>(name: Name): FileSystem[Name] =>
    ((...args: unknown[]) => {
      for (const path of args) if (typeof path === 'string') note(name, path)
      return (nodeFileSystem[name] as (...args: unknown[]) => unknown)(...args)
    }) as FileSystem[Name]
  return {
    touched,
    fileSystem: {
      ...nodeFileSystem,
      openToRead: watch('openToRead'),
      openNew: watch('openNew'),
      readFolder: watch('readFolder'),
      makeFolder: watch('makeFolder'),
      rename: watch('rename'),
      link: watch('link'),
      remove: watch('remove'),
    },
  }
}

function trueLocation(path: string): string {
  try {
    return realpathSync(path)
  } catch {
    const above = dirname(path)
    return above === path ? path : join(trueLocation(above), basename(path))
  }
}
