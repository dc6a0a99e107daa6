import { createHash } from 'node:crypto'

/** Any text as a short key: ids may be long and may contain what PostgreSQL cannot keep in a text. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The key of an advisory lock. */
export const lockOf = (token: string): number => createHash('sha256').update(token).digest().readInt32BE(0)
