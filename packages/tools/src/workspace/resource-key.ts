import { basename, dirname, join, resolve } from 'node:path'
import type { Workspace } from './workspace.ts'

/**
 * The key under which calls that use a file take turns: the real path of the nearest parent that exists, plus the rest.
 * Without a synchronous `realpath`, links are not followed.
 */
export function fileKey({ root, fileSystem: { realpathSync } }: Workspace, path: string): string {
  const wanted = resolve(root, path)
  return `file:${realpathSync === undefined ? wanted : followed(wanted, realpathSync)}`
}

/** A folder and everything in it; or a file, where the path names one. */
export function folderKeys(workspace: Workspace, path: string): string[] {
  const key = fileKey(workspace, path)
  return [key, key.endsWith('/') ? key : `${key}/`]
}

function followed(wanted: string, realpathSync: (path: string) => string): string {
  const missing: string[] = []
  for (let at = wanted; ; at = dirname(at)) {
    try {
      return join(realpathSync(at), ...missing)
    } catch {
      if (at === dirname(at)) return wanted
      missing.unshift(basename(at))
    }
  }
}
