import { createHash } from 'node:crypto'

/** A short key for any text: ids may be long and may contain characters that PostgreSQL cannot store. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The key of an advisory lock. */
export const lockOf = (token: string): number => createHash('sha256').update(token).digest().readInt32BE(0)
