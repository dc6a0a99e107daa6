import { closeSync, openSync, writeSync } from 'node:fs'
import { type Frame, frameLine } from '../../inspect/index.ts'
import { fileError } from '../file-error.ts'

const fullAt = 65_536

/** Frames on their way into a file, some at a time. */
export class RecordingFile {
  readonly path: string
  readonly #file: number
  #lines: string[] = []
  #length = 0

  constructor(path: string) {
    this.path = path
    try {
      this.#file = openSync(path, 'wx')
    } catch (error) {
      throw fileError(path, error)
    }
  }

  take(frame: Frame): void {
    const line = frameLine(frame)
    this.#lines.push(line)
    this.#length += line.length
    if (this.#length >= fullAt) this.flush()
  }

  flush(): void {
    const bytes = Buffer.from(this.#lines.join(''))
    this.#lines = []
    this.#length = 0
    for (let at = 0; at < bytes.length; ) at += writeSync(this.#file, bytes, at)
  }

  close(): void {
    this.flush()
    closeSync(this.#file)
  }
}
