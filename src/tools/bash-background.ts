import { z } from 'zod'
import type { BackgroundRun, Shell } from '../shell/shell.ts'
import { defineTool } from '../tool/define-tool.ts'
import type { Tool } from '../tool/tool.ts'
import { toolError } from '../workspace/tool-error.ts'

const inputSchema = z.object({ id: z.string().describe('The id that Bash gave, such as bash_1') })

export interface BackgroundData {
  id: string
  status: string
  /** What was printed since the last look. */
  output: string
}

/** What a background run has printed since the last look. */
export function bashOutputTool(shell: Shell): Tool<typeof inputSchema, BackgroundData> {
  return defineTool({
    name: 'BashOutput',
    description: 'Shows what a command in the background has printed since the last look, and whether it still runs.',
    inputSchema,
    // each look takes the output away from the next one, so they come one after the other
    isConcurrencySafe: () => false,
    isReadOnly: () => true,
    checkPermissions: () => ({ behavior: 'allow' }),
    call: async ({ id }) => ({ data: look(find(shell, id)) }),
    mapResult,
  })
}

/** Ends a background run. */
export function bashStopTool(shell: Shell): Tool<typeof inputSchema, BackgroundData> {
  return defineTool({
    name: 'BashStop',
    description: 'Ends a command in the background, with all it has started.',
    inputSchema,
    checkPermissions: () => ({ behavior: 'allow' }),
    async call({ id }) {
      const run = find(shell, id)
      run.running.stop()
      run.outcome = await run.running.finished
      return { data: look(run) }
    },
    mapResult,
  })
}

function find(shell: Shell, id: string): BackgroundRun {
  const run = shell.background(id)
  if (run !== undefined) return run
  const ids = shell.backgroundIds()
  const known = ids.length === 0 ? 'There are none.' : `There are ${ids.join(', ')}.`
  throw toolError(`There is no background run ${id}. ${known}`, 'NoSuchRun')
}

function look({ id, running, outcome }: BackgroundRun): BackgroundData {
  return { id, status: statusOf(outcome), output: running.output.takeNew() }
}

function statusOf(outcome: BackgroundRun['outcome']): string {
  if (outcome === undefined) return 'running'
  if (outcome.endedBy === 'notStarted') return `not started: ${outcome.error}`
  if (outcome.endedBy !== 'itself') {
    return { abort: 'stopped', timeout: 'out of time', outputLimit: 'printed too much' }[outcome.endedBy]
  }
  return outcome.exitCode === undefined ? `ended by ${outcome.signal}` : `ended with exit code ${outcome.exitCode}`
}

const mapResult = ({ id, status, output }: BackgroundData, toolUseID: string) =>
  ({
    type: 'tool_result',
    tool_use_id: toolUseID,
    content: `[${id}: ${status}]\n${output.trimEnd() || '(no new output)'}`,
  }) as const
