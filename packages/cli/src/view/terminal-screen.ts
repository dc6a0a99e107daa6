import process from 'node:process'
import { createLogUpdate } from 'log-update'
import wrapAnsi from 'wrap-ansi'

const sequence = '\u001b['
const hideCursor = `${sequence}?25l`
const showCursor = `${sequence}?25h`
/** Synchronized output: the terminal shows the whole picture at once. */
const [holdPicture, showPicture] = [`${sequence}?2026h`, `${sequence}?2026l`]

/** A line as a terminal of this width wraps it; a wide character without room moves to the next row. */
const brokenAt = (line: string, columns: number): string[] =>
  wrapAnsi(line, columns, { hard: true, wordWrap: false, trim: false }).split('\n')

/** The redrawn lower end of a terminal, and above it lines that stay. One write per picture. */
export class TerminalScreen {
  readonly #out: NodeJS.WriteStream
  readonly #update: ReturnType<typeof createLogUpdate>
  #buffer = ''
  #lines: readonly string[] = []
  /** The width for which the lines were drawn, and the last known size. */
  #columns: number
  #seen = ''
  #isBegun = false

  constructor(out: NodeJS.WriteStream) {
    this.#out = out
    this.#columns = this.columns
    this.noteSize()
    const write = (text: string): void => {
      this.#buffer += text
    }
    const size = { columns: { get: () => this.columns }, rows: { get: () => this.rows } }
    const buffer = Object.defineProperties({ write }, size) as unknown as NodeJS.WritableStream
    this.#update = createLogUpdate(buffer, { showCursor: true })
  }

  get columns(): number {
    return this.#size[0] || 80
  }

  get rows(): number {
    return this.#size[1] || 24
  }

  /** Asked each time: the stream's size is updated by a signal, and lines are rewrapped before the signal arrives. */
  get #size(): [columns: number, rows: number] {
    try {
      return this.#out.getWindowSize()
    } catch {
      return [this.#out.columns, this.#out.rows]
    }
  }

  /** Whether the size differs from the recorded one. */
  get isResized(): boolean {
    return this.#seen !== this.#size.join()
  }

  noteSize(): void {
    this.#seen = this.#size.join()
  }

  /** @param stays goes into the scrollback; `lines` replace the previous lines below */
  draw(stays: readonly string[], lines: readonly string[]): void {
    const isResized = this.columns !== this.#columns
    if (isResized) this.#forgetWrapped()
    // added or removed lines move the lines below, so a partial update is not possible
    if (stays.length > 0 || lines.length !== this.#lines.length || lines.length === 0) this.#update.clear()
    if (stays.length > 0) this.#buffer += `${stays.join('\n')}\n`
    if (lines.length > 0) this.#update(lines.join('\n'))
    this.#lines = lines
    this.#flush()
  }

  end(): void {
    this.#update.done()
    process.off('exit', this.#restore)
    this.#restore()
  }

  /** A narrower terminal has wrapped the drawn lines: they take more rows now. */
  #forgetWrapped(): void {
    this.#columns = this.columns
    if (this.#lines.length === 0) return
    const rows = this.#lines.map((line) => brokenAt(line, this.columns).length)
    const up = Math.min(
      rows.reduce((sum, each) => sum + each, 0),
      this.rows - 1,
    )
    // line by line: some terminals copy a screen that is cleared as a whole into the scrollback
    this.#buffer += `\r${`${sequence}2K${sequence}1A`.repeat(up)}${sequence}2K`
    this.#update.done()
    this.#lines = []
  }

  /** The cursor is restored however this process ends. */
  readonly #restore = (): void => {
    if (this.#isBegun) this.#out.write(showCursor)
    this.#isBegun = false
  }

  #flush(): void {
    if (this.#buffer === '') return
    const start = this.#isBegun ? '' : hideCursor
    if (!this.#isBegun) process.once('exit', this.#restore)
    this.#isBegun = true
    this.#out.write(`${start}${holdPicture}${this.#buffer}${showPicture}`)
    this.#buffer = ''
  }
}
