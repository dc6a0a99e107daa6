import type { Canvas } from '../view/call-lines.ts'
import { wrap } from '../view/fit.ts'
import type { Key } from './keyboard.ts'

/** The input line for a follow-up prompt, between two runs of a session. */
export class FollowUp {
  readonly #changed: () => void
  #typed = ''
  #settle: ((prompt: string | undefined) => void) | undefined

  constructor(changed: () => void) {
    this.#changed = changed
  }

  /** Resolves to the next prompt; to undefined if the session is over. */
  ask(): Promise<string | undefined> {
    this.#typed = ''
    return new Promise((resolve) => {
      this.#settle = (prompt) => {
        this.#settle = undefined
        resolve(prompt)
      }
      this.#changed()
    })
  }

  leave(): void {
    this.#settle?.(undefined)
  }

  /** True if the key was handled. */
  press({ text, name, isCtrlC }: Key): boolean {
    if (this.#settle === undefined) return false
    if (isCtrlC || name === 'escape' || (name === 'd' && text === undefined)) this.leave()
    else if (name === 'return' || name === 'enter') this.#settle(this.#typed.trim() || undefined)
    else if (name === 'backspace') this.#typed = [...this.#typed].slice(0, -1).join('')
    else if (text !== undefined) this.#typed += text
    this.#changed()
    return true
  }

  lines({ columns, colors }: Canvas): string[] {
    if (this.#settle === undefined) return []
    const hint = this.#typed === '' ? colors.dim('Type the next prompt. Enter alone or Ctrl+C ends the session.') : ''
    return ['', ...wrap(`${colors.bold('›')} ${this.#typed}▏${hint}`, columns)]
  }
}
