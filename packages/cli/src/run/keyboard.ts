import { openSync } from 'node:fs'
import readline from 'node:readline'
import { ReadStream } from 'node:tty'
import type { Io } from '../io.ts'
import { cleanText } from '../view/clean-text.ts'

export interface Key {
  /** The typed keys, if the input is readable. */
  readonly text: string | undefined
  readonly name: string | undefined
  readonly isCtrlC: boolean
}

/** The keys of the terminal, one by one. Undefined without a terminal. */
export function openKeyboard(io: Io, press: (key: Key) => void): { close(): void } | undefined {
  const input = inputOf(io)
  if (input === undefined) return undefined
  const hear = (text: string | undefined, key: { name?: string; ctrl?: boolean; meta?: boolean } = {}): void => {
    const isPlain = key.ctrl !== true && key.meta !== true && text !== undefined && cleanText(text) === text
    press({ text: isPlain ? text : undefined, name: key.name, isCtrlC: key.ctrl === true && key.name === 'c' })
  }
  readline.emitKeypressEvents(input)
  input.setRawMode(true)
  input.on('keypress', hear)
  input.resume()
  return {
    close() {
      input.off('keypress', hear)
      input.setRawMode(false)
      input.pause()
      if (input !== io.stdin) input.destroy()
    },
  }
}

/** Piped input is not a keyboard; the terminal itself may still exist. */
function inputOf({ stdin, stdout }: Io): ReadStream | undefined {
  if (stdin.isTTY) return stdin
  if (!stdout.isTTY) return undefined
  try {
    return new ReadStream(openSync('/dev/tty', 'r'))
  } catch {
    return undefined
  }
}
