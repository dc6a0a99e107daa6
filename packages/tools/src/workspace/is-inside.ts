import { sep } from 'node:path'

/** Whether a path is the folder or below it. Compares with the separator: `/allowed-evil` is not in `/allowed`. */
export function isInside(folder: string, path: string): boolean {
  return path === folder || path.startsWith(folder.endsWith(sep) ? folder : folder + sep)
}
