import process from 'node:process'
import { createLogUpdate } from 'log-update'
import stringWidth from 'string-width'

const sequence = '\u001b['
const hideCursor = `${sequence}?25l`
const showCursor = `${sequence}?25h`
/** The terminal shows all of it at once, or nothing yet. */
const [holdPicture, showPicture] = [`${sequence}?2026h`, `${sequence}?2026l`]

/** The lower end of a terminal, drawn again and again, and above it lines that stay. One write for each picture. */
export class TerminalScreen {
  readonly #out: NodeJS.WriteStream
  readonly #update: ReturnType<typeof createLogUpdate>
  #buffer = ''
  #lines: readonly string[] = []
  #columns: number
  #isBegun = false

  constructor(out: NodeJS.WriteStream) {
    this.#out = out
    this.#columns = this.columns
    const write = (text: string): void => {
      this.#buffer += text
    }
    const size = { columns: { get: () => this.columns }, rows: { get: () => this.rows } }
    const buffer = Object.defineProperties({ write }, size) as unknown as NodeJS.WritableStream
    this.#update = createLogUpdate(buffer, { showCursor: true })
  }

  get columns(): number {
    return this.#out.columns || 80
  }

  get rows(): number {
    return this.#out.rows || 24
  }

  /** @param stays goes into the scrollback; `lines` are drawn below, in place of those before */
  draw(stays: readonly string[], lines: readonly string[]): void {
    const isResized = this.columns !== this.#columns
    if (isResized) this.#forgetWrapped()
    // lines that come or go move those below them: the difference alone would not do
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

  /** A terminal that became narrower has broken the lines that stood there: they take more rows now. */
  #forgetWrapped(): void {
    this.#columns = this.columns
    if (this.#lines.length === 0) return
    const rows = this.#lines.map((line) => Math.max(1, Math.ceil(stringWidth(line) / this.columns)))
    const up = Math.min(
      rows.reduce((sum, each) => sum + each, 0),
      this.rows - 1,
    )
    this.#buffer += `\r${sequence}${up}A${sequence}J`
    this.#update.done()
    this.#lines = []
  }

  /** However this process ends, the cursor comes back. */
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
