import type { OnProgress } from 'signalbox'

const maxReports = 10_000
const maxChars = 2_000

/** Converts a server's progress notifications, and throttles them to a readable rate. */
export function progressReport(
  signal: AbortSignal,
  onProgress: OnProgress,
): (told: { progress?: unknown; total?: unknown; message?: unknown }) => void {
  let reported = 0
  return ({ progress, total, message }) => {
    if (signal.aborted || ++reported > maxReports) return
    const words = typeof message === 'string' ? { message: message.slice(0, maxChars) } : {}
    onProgress({ data: { type: 'mcp_progress', progress, total, ...words } })
  }
}
