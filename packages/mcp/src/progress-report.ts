import type { OnProgress } from 'signalbox'

const maxReports = 10_000
const maxChars = 2_000
const maxKeptChars = 8_000

interface ProgressNotification {
  progress?: unknown
  total?: unknown
  message?: unknown
}

/** The progress reports of a server about one call. */
export interface ProgressReport {
  readonly onprogress: (notification: ProgressNotification) => void
  /** Call this when the request is sent. */
  sent(): void
  /** The text for the model if the call is stopped; undefined if the call was never sent. */
  whenStopped(server: string): string | undefined
}

/** Converts a server's progress notifications, limits their number, and keeps the latest ones. */
export function progressReport(signal: AbortSignal, onProgress: OnProgress): ProgressReport {
  let isSent = false
  let reported = 0
  let kept: string[] = []
  let keptChars = 0
  const keep = (line: string): void => {
    kept.push(line)
    keptChars += line.length
    // trimmed at twice the limit, so that a trim is rare
    if (keptChars > 2 * maxKeptChars) ({ kept, keptChars } = lastOf(kept))
  }
  return {
    onprogress({ progress, total, message }) {
      if (signal.aborted || ++reported > maxReports) return
      const words = typeof message === 'string' ? { message: message.slice(0, maxChars) } : {}
      keep(lineOf(progress, total, words.message))
      onProgress({ data: { type: 'mcp_progress', progress, total, ...words } })
    },
    sent() {
      isSent = true
    },
    whenStopped(server) {
      if (!isSent) return undefined
      const note = `[Partial result: the call was stopped before ${server} answered. The server was told to cancel it, but may still finish it.]`
      const latest = lastOf(kept).kept
      if (latest.length === 0) return `${note}\nThe server had reported no progress.`
      const left = reported - latest.length
      const others = left > 0 ? [`(${left} other notifications left out)`] : []
      return [note, 'Progress until then:', ...others, ...latest].join('\n')
    },
  }
}

function lastOf(lines: readonly string[]): { kept: string[]; keptChars: number } {
  let keptChars = 0
  let from = lines.length
  while (from > 0 && keptChars + (lines[from - 1] as string).length <= maxKeptChars) {
    keptChars += (lines[--from] as string).length
  }
  return { kept: lines.slice(from), keptChars }
}

function lineOf(progress: unknown, total: unknown, message: string | undefined): string {
  const at = typeof total === 'number' ? `${String(progress)} of ${total}` : String(progress)
  return message === undefined || message === '' ? at : `${at}: ${message}`
}
