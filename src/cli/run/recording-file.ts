import { closeSync, openSync, rmSync, writeSync } from 'node:fs'
import { type Frame, frameLine } from '../../inspect/index.ts'
import { fileError } from '../file-error.ts'

const fullAt = 65_536

/** Frames on their way into a file, some at a time. */
export class RecordingFile {
  readonly path: string
  readonly #file: number
  #lines: string[] = []
  #length = 0
  #isEmpty = true
  /** Why it breaks off, where it does: a full disk must not cost the run. */
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

  /** A file that nothing came into is taken away again: the run never began. */
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
