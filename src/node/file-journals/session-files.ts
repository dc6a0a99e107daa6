import { createHash } from 'node:crypto'
import { join } from 'node:path'

const hash = (text: string): string => createHash('sha256').update(text).digest('hex')

/** The paths of one session's files. They contain a hash of the id, never the id itself. */
export interface SessionFiles {
  readonly folder: string
  /** The hash of the id, with which the names of its files begin. */
  readonly name: string
  readonly log: string
  readonly inbox: string
}

export const filesOf = (folder: string, id: string): SessionFiles => filesNamed(folder, hash(id))

export const filesNamed = (folder: string, name: string): SessionFiles => ({
  folder,
  name,
  log: join(folder, `${name}.jsonl`),
  inbox: join(folder, `${name}.inbox`),
})

/** The name of a log; undefined for other files. */
export const logName = (file: string): string | undefined => /^([0-9a-f]{64})\.jsonl$/.exec(file)?.[1]

export const noteFile = ({ inbox }: SessionFiles, key: string): string => join(inbox, `${hash(key)}.json`)

/** A blob belongs to one session, so that it can be removed with it. */
export const blobName = ({ name }: SessionFiles, data: Uint8Array): string =>
  createHash('sha256').update(name).update(data).digest('hex')

export const blobFile = ({ folder }: SessionFiles, blob: string): string => join(folder, `${blob}.blob`)
