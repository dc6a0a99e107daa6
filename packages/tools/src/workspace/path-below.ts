import { sep } from 'node:path'

/** A path relative to the folder it is in. Both must be absolute and normalized, which keeps this fast. */
export function pathBelow(folder: string, path: string): string {
  if (path === folder) return ''
  return path.slice(folder.endsWith(sep) ? folder.length : folder.length + 1)
}
