import { isAbsolute, join } from 'node:path'
import { toolError } from 'signalbox'

export interface FileGlob {
  /** The folder before the first wildcard, as written. */
  readonly folder: string
  /** Expects a path relative to that folder. */
  matches(path: string): boolean
}

const maxLength = 500
const maxStars = 4

/**
 * A pattern such as `src/**` + `/*.ts`. Extended patterns and many stars in one path part are rejected: matching
 * them can take exponential time.
 */
export async function fileGlob(pattern: string, from: string, basenameOnly: boolean): Promise<FileGlob> {
  const { default: picomatch } = await import('picomatch')
  const stars = pattern.split('/').map((part) => (part === '**' ? 0 : part.split('*').length - 1))
  if (pattern.length > maxLength || Math.max(...stars) > maxStars) {
    throw toolError(`The pattern has too many wildcards. Use at most ${maxStars} stars between two slashes.`, 'Pattern')
  }
  const { base, glob } = picomatch.scan(pattern)
  const folder = isAbsolute(base) ? base : join(from, base)
  if (glob === '') return { folder, matches: (path) => !path.startsWith('..') }
  // a star also matches a line break in a name
  const options = { dot: true, noextglob: true, flags: 's' }
  // a name without a slash matches in every folder
  const isName = basenameOnly && base === '' && !pattern.includes('/')
  try {
    return { folder, matches: picomatch(isName ? `**/${glob}` : glob, options) }
  } catch (error) {
    throw toolError(`Invalid pattern: ${(error as Error).message}`, 'Pattern')
  }
}
