import type { AnyTool } from '../tool/tool.ts'
import { heldTool } from './held-tool.ts'

/** Tools of every kind that the rules distinguish: the default for `simulate`. */
export const troublesomeTools = (): AnyTool[] =>
  [
    heldTool('Read', { safe: true }),
    heldTool('Search', { safe: true, cancel: true }),
    heldTool('Edit'),
    heldTool('Fetch', { cancel: true }),
    heldTool('Bash', { cancelsSiblingsOnError: true }),
    heldTool('Probe', { safe: true, cancelsSiblingsOnError: true }),
    heldTool('Slow', { safe: true, timeout: { totalMs: 500, idleMs: 200 } }),
    heldTool('Flaky', { retry: { attempts: 2, backoffMs: 10 } }),
  ].map(({ tool }) => ({ ...tool, maxResultSizeChars: 400 }))
