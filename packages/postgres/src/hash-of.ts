import { createHash } from 'node:crypto'

/** A short key for any text: ids may be long and may contain characters that PostgreSQL cannot store. */
export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The channel for the notes of a schema. PostgreSQL takes up to 63 characters. */
export function channelOf(schema: string): string {
  const name = `signalbox_${schema}`
  return name.length <= 63 ? name : `signalbox_${hashOf(schema)}`.slice(0, 63)
}

/** The key of an advisory lock. */
export const lockOf = (token: string): number => createHash('sha256').update(token).digest().readInt32BE(0)
