import type { FileMatch } from './match.ts'
import type { ScanTools } from './scan-batch.ts'

export interface ConfirmRequest {
  readonly found: readonly FileMatch[]
  readonly maxFileBytes: number
}

/**
 * Filters ripgrep's matches to files that really contain the lines. ripgrep works by path, and a folder may have been
 * replaced by a link in the meantime; so each file is opened again and checked to be at its path.
 * The source is sent to a worker thread, so it must not refer to anything outside itself.
 */
export function confirmBatch(
  { found, maxFileBytes }: ConfirmRequest,
  { fs, readBytesNow, decodeText }: ScanTools,
): boolean[] {
  return found.map(({ path, lines }) => {
    const bytes = readBytesNow(fs, path, maxFileBytes)
    const text = bytes === undefined ? undefined : decodeText(bytes)
    if (text === undefined) return false
    const there = text.split('\n')
    return lines.every(({ number, text: seen }) => there[number - 1] === seen)
  })
}
