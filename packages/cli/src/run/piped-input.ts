import type { Io } from '../io.ts'
import { usageError } from '../usage-error.ts'

const maxChars = 5_000_000
/** A real pipe has sent data by then; an open but idle stdin is not waited for. */
const patienceMs = 3_000

/** Piped input up to its end; empty if there is none. */
export async function pipedInput({ stdin, stderr }: Io): Promise<string> {
  if (stdin.isTTY === true) return ''
  const chunks: Buffer[] = []
  const isWhole = await new Promise<boolean>((resolve, reject) => {
    let length = 0
    const timer = setTimeout(() => settle(() => resolve(false)), patienceMs)
    const hear = (chunk: Buffer | string): void => {
      clearTimeout(timer)
      chunks.push(Buffer.from(chunk))
      length += chunk.length
      if (length > maxChars)
        settle(() => reject(usageError(`Standard input is too long: expected at most ${maxChars} characters.`)))
    }
    const end = (): void => settle(() => resolve(true))
    const settle = (how: () => void): void => {
      clearTimeout(timer)
      stdin.off('data', hear).off('end', end).off('error', end).off('close', end)
      stdin.pause()
      how()
    }
    stdin.on('data', hear).on('end', end).on('error', end).on('close', end)
    if (stdin.readableEnded || stdin.destroyed) end()
  })
  if (!isWhole) {
    stdin.unref?.()
    stderr.write(
      'signalbox: No data on standard input, so only the prompt is used. To wait for input, add - to the prompt.\n',
    )
  }
  return Buffer.concat(chunks).toString('utf8').trim()
}
