import { sep } from 'node:path'

/** A path without the folder it is in. Both must be absolute and tidy, which makes this quick. */
export function pathBelow(folder: string, path: string): string {
  if (path === folder) return ''
  return path.slice(folder.endsWith(sep) ? folder.length : folder.length + 1)
}
