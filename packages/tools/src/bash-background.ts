import { defineTool, type Tool, toolError } from 'signalbox'
import { z } from 'zod'
import type { BackgroundRun, Shell } from './shell/shell.ts'

const inputSchema = z.object({ id: z.string().describe('The id that Bash returned, such as bash_1') })

export interface BackgroundData {
  id: string
  status: string
  /** Output since the previous BashOutput call. */
  output: string
}

/** Returns the output of a background run since the previous call. */
export function bashOutputTool(shell: Shell): Tool<typeof inputSchema, BackgroundData> {
  return defineTool({
    name: 'BashOutput',
    description:
      'Returns the output of a background command since the previous BashOutput call, and whether the command still runs.',
    inputSchema,
    // each call consumes the output, so calls run one after the other
    isConcurrencySafe: () => false,
    isReadOnly: () => true,
    checkPermissions: () => ({ behavior: 'allow' }),
    call: async ({ id }) => ({ data: look(find(shell, id)) }),
    mapResult,
  })
}

/** Stops a background run. */
export function bashStopTool(shell: Shell): Tool<typeof inputSchema, BackgroundData> {
  return defineTool({
    name: 'BashStop',
    description: 'Stops a background command and every process it started.',
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
  const known = ids.length === 0 ? 'No background runs exist.' : `Known ids: ${ids.join(', ')}.`
  throw toolError(`Unknown background run ${id}. ${known}`, 'NoSuchRun')
}

function look({ id, running, outcome }: BackgroundRun): BackgroundData {
  return { id, status: statusOf(outcome), output: running.output.takeNew() }
}

function statusOf(outcome: BackgroundRun['outcome']): string {
  if (outcome === undefined) return 'running'
  if (outcome.endedBy === 'notStarted') return `not started: ${outcome.error}`
  if (outcome.endedBy !== 'itself') {
    return { abort: 'stopped', timeout: 'timed out', outputLimit: 'exceeded the output limit' }[outcome.endedBy]
  }
  return outcome.exitCode === undefined ? `killed by ${outcome.signal}` : `exited with code ${outcome.exitCode}`
}

const mapResult = ({ id, status, output }: BackgroundData, toolUseID: string) =>
  ({
    type: 'tool_result',
    tool_use_id: toolUseID,
    content: `[${id}: ${status}]\n${output.trimEnd() || '(no new output)'}`,
  }) as const
