import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { type Frame, frameLine } from 'signalbox/inspect'
import { fileError } from '../usage-error.ts'

const fullAt = 65_536

/** Writes frames to a file, in batches. */
export class RecordingFile {
  readonly path: string
  readonly #file: number
  #lines: string[] = []
  #length = 0
  #isEmpty = true
  /** Why the recording is incomplete: a full disk must not fail the run. */
  problem: string | undefined

  constructor(path: string) {
    this.path = path
    try {
      this.#file = openSync(path, 'wx')
    } catch (error) {
      throw fileError(path, error)
    }
  }

  take(frame: Frame): void {
    if (this.problem !== undefined) return
    const line = frameLine(frame)
    this.#lines.push(line)
    this.#length += line.length
    if (this.#length >= fullAt) this.flush()
  }

  flush(): void {
    const bytes = Buffer.from(this.#lines.join(''))
    this.#lines = []
    this.#length = 0
    if (bytes.length === 0 || this.problem !== undefined) return
    this.#isEmpty = false
    try {
      for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at)
    } catch (error) {
      this.problem = fileError(this.path, error).message
    }
  }

  /** An empty file is removed: the run never began. */
  close(): void {
    this.flush()
    try {
      closeSync(this.#file)
    } catch (error) {
      this.problem ??= fileError(this.path, error).message
    }
    if (this.#isEmpty) rmSync(this.path, { force: true })
  }
}
