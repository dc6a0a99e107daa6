import { describeValue } from '../base/describe-value.ts'
import { readField } from '../base/read-field.ts'

const maxChars = 30_000

/** The end of what a body has reported since somebody last looked. */
export class OutputTail {
  #text = ''
  #dropped = 0

  add(data: unknown): void {
    const text = textOf(data)
    const whole = this.#text + text
    this.#dropped += Math.max(0, whole.length - maxChars)
    this.#text = whole.slice(-maxChars)
  }

  /** Each piece is returned once. */
  take(): string {
    const left = this.#dropped === 0 ? '' : `[${this.#dropped} earlier characters were dropped.]\n`
    const text = (left + this.#text).toWellFormed()
    this.#text = ''
    this.#dropped = 0
    return text
  }
}

function textOf(data: unknown): string {
  if (typeof data === 'string') return data
  const text = readField(data, 'text')
  return typeof text === 'string' ? text : `${describeValue(data, 1_000)}\n`
}
