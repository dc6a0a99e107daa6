import type { OnProgress } from '../tool/tool.ts'

const maxReports = 10_000
const maxChars = 2_000

/** What a server tells of a call's progress, as progress of ours: not more than anybody could read. */
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
