import { closeSync, openSync, writeSync } from 'node:fs'
import type { Message } from '../../index.ts'
import { repairTranscript } from '../../transcript/index.ts'
import { fileError } from '../file-error.ts'

/**
 * A transcript on its way into a file, one message per line. A turn is written when it is whole, in one piece, so that
 * the file is valid at every moment, whoever ends this process and how.
 */
export class TranscriptFile {
  readonly path: string
  readonly #file: number
  #written: number

  /** @param written how many messages the file holds already */
  constructor(path: string, written = 0) {
    this.path = path
    this.#written = written
    try {
      this.#file = openSync(path, written > 0 ? 'a' : 'wx')
    } catch (error) {
      throw fileError(path, error)
    }
  }

  /** Writes what has been added since the last time. */
  sync(transcript: readonly Message[]): void {
    const more = transcript.slice(this.#written)
    if (more.length === 0) return
    writeWhole(this.#file, more.map((message) => `${JSON.stringify(message)}\n`).join(''))
    this.#written = transcript.length
  }

  /** Writes a turn that will never be whole: what is known of it, with a word for each call that has no result. */
  syncBroken(transcript: readonly Message[], pending: readonly Message[]): void {
    const known = new Set(transcript.map(({ uuid }) => uuid))
    const all = [...transcript, ...pending.filter(({ uuid }) => !known.has(uuid))]
    this.sync(repairTranscript(all).messages)
  }

  close(): void {
    closeSync(this.#file)
  }
}

function writeWhole(file: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
}
