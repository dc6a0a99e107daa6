import { closeSync, fstatSync, openSync, readSync, rmSync, writeSync } from 'node:fs'
import type { Message } from 'signalbox'
import { repairTranscript } from 'signalbox/transcripts'
import { fileError } from '../usage-error.ts'

/**
 * Writes a transcript to a file, one message per line. Each turn is appended atomically when it completes, so the file
 * is valid at every moment, even if this process is killed.
 */
export class TranscriptFile {
  readonly path: string
  readonly #file: number
  #isEmpty: boolean
  #written: number

  /** @param written how many messages the file already has; without it the file must be new */
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

  /** Appends the messages added since the last call. */
  sync(transcript: readonly Message[]): void {
    const more = transcript.slice(this.#written)
    if (more.length === 0) return
    writeWhole(this.#file, more.map((message) => `${JSON.stringify(message)}\n`).join(''))
    this.#written = transcript.length
    this.#isEmpty = false
  }

  /** Appends a turn that will never complete: what is known of it, with a placeholder for each missing result. */
  syncBroken(transcript: readonly Message[], pending: readonly Message[]): void {
    const known = new Set(transcript.map(({ uuid }) => uuid))
    const all = [...transcript, ...pending.filter(({ uuid }) => !known.has(uuid))]
    this.sync(repairTranscript(all).messages)
  }

  /** An empty new file is removed: the run never began. */
  close(): void {
    closeSync(this.#file)
    if (this.#isEmpty) rmSync(this.path, { force: true })
  }
}

/** An editor may have removed the last line break. */
function endsInNewline(file: number): boolean {
  const { size } = fstatSync(file)
  const last = Buffer.alloc(1)
  return size === 0 || (readSync(file, last, 0, 1, size - 1) === 1 && last[0] === 10)
}

function writeWhole(file: number, text: string): void {
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; ) at += writeSync(file, bytes, at)
}
