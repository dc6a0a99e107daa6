import { createInterface } from 'node:readline/promises'
import { visibleLine } from 'signalbox'
import type { Io } from '../io.ts'
import type { AskTrust } from './load-settings.ts'

/** Asks at the terminal whether to trust a project's settings; without a terminal, use `--trust`. */
export const askTrust =
  (io: Io, isTrusted: boolean): AskTrust =>
  async ({ path }, grants) => {
    if (isTrusted) return true
    const file = visibleLine(path)
    const list = grants.map((grant) => `  ${visibleLine(grant)}\n`).join('')
    if (io.stdin.isTTY === true && io.stdout.isTTY === true) {
      io.stdout.write(`${file} is new or has changed. It contains:\n${list}`)
      const reader = createInterface({ input: io.stdin, output: io.stdout })
      const answer = await reader.question('Use these settings from now on? [y/N] ').catch(() => '')
      reader.close()
      if (/^y(?:es)?$/i.test(answer.trim())) return true
    }
    io.stderr.write(
      `signalbox: ${file} is not trusted, so only its ask and deny rules apply. Ignored:\n${list}Read the file, then pass --trust to trust its current content.\n`,
    )
    return false
  }
