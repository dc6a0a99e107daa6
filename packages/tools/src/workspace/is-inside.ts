import { sep } from 'node:path'

/** Whether a path is the folder or below it. Compares with the separator: `/allowed-evil` is not in `/allowed`. */
export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}

/** A path relative to the folder it is in. Both must be absolute and normalized, which keeps this fast. */
export function pathBelow(folder: string, path: string): string {
  if (path === folder) return ''
  return path.slice(folder.endsWith(sep) ? folder.length : folder.length + 1)
}
