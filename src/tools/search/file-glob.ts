import { isAbsolute, join } from 'node:path'
import { optionalPackage } from '../../workspace/optional-package.ts'
import { toolError } from '../../workspace/tool-error.ts'

export interface FileGlob {
  /** The folder in front of the first wildcard, as it was written. */
  readonly folder: string
  /** Takes a path relative to that folder. */
  matches(path: string): boolean
}

const maxLength = 500
const maxStars = 4

/**
 * A pattern such as `src/**` + `/*.ts`. No extended patterns and few stars in one part of a path: those can be made so
 * that matching takes for ever.
 */
export async function fileGlob(pattern: string, from: string, basenameOnly: boolean): Promise<FileGlob> {
  const { default: picomatch } = await optionalPackage('picomatch', () => import('picomatch'))
  const stars = pattern.split('/').map((part) => (part === '**' ? 0 : part.split('*').length - 1))
  if (pattern.length > maxLength || Math.max(...stars) > maxStars) {
    throw toolError(`The pattern has too many wildcards. Use at most ${maxStars} stars between two slashes.`, 'Pattern')
  }
  const { base, glob } = picomatch.scan(pattern)
  const folder = isAbsolute(base) ? base : join(from, base)
  if (glob === '') return { folder, matches: (path) => !path.startsWith('..') }
  const options = { dot: true, noextglob: true }
  // a name without a slash is looked for in every folder
  const isName = basenameOnly && base === '' && !pattern.includes('/')
  try {
    return { folder, matches: picomatch(isName ? `**/${glob}` : glob, options) }
  } catch (error) {
    throw toolError(`The pattern cannot be read: ${(error as Error).message}`, 'Pattern')
  }
}
