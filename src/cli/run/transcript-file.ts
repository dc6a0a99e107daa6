import { closeSync, fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
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
  #isEmpty: boolean
  #written: number

  /** @param written how many messages the file holds already; without it the file has to be a new one */
  constructor(path: string, written?: number) {
    this.path = path
    this.#written = written ?? 0
    this.#isEmpty = written === undefined
    try {
      this.#file = openSync(path, written === undefined ? 'wx' : 'a+')
      if (written !== undefined && !endsInNewline(this.#file)) writeWhole(this.#file, '\n')
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
    this.#isEmpty = false
  }

  /** Writes a turn that will never be whole: what is known of it, with a word for each call that has no result. */
  syncBroken(transcript: readonly Message[], pending: readonly Message[]): void {
    const known = new Set(transcript.map(({ uuid }) => uuid))
    const all = [...transcript, ...pending.filter(({ uuid }) => !known.has(uuid))]
    this.sync(repairTranscript(all).messages)
  }

  /** A new file that nothing came into is taken away again: the run never began. */
  close(): void {
    closeSync(this.#file)
    if (this.#isEmpty) rmSync(this.path, { force: true })
  }
}

/** An editor may have saved it without. */
function endsInNewline(file: number): boolean {
  const { size } = fstatSync(file)
  const last = Buffer.alloc(1)
  return size === 0 || (readSync(file, last, 0, 1, size - 1) === 1 && last[0] === 10)
}

function writeWhole(file: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
}
