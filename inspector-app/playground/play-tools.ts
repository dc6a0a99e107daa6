import { type AnyTool, defineTool } from 'signalbox'
import { z } from 'zod'
import type { Bodies } from './bodies.ts'
import { type PlannedCall, type ToolName, toolHabits } from './planned-call.ts'

const inputSchema = z.object({ about: z.string(), safe: z.boolean() })

/** Five tools as a host would define them, with simulated bodies. */
export function playTools(bodies: Bodies, plannedOf: (id: string) => PlannedCall): AnyTool[] {
  return (Object.keys(toolHabits) as ToolName[]).map((name) =>
    defineTool({
      name,
      inputSchema,
      isConcurrencySafe: ({ safe }) => safe,
      isReadOnly: () => name === 'Read' || name === 'Fetch',
      interruptBehavior: () => toolHabits[name].atInterrupt,
      cancelsSiblingsOnError: name === 'Bash',
      describe: ({ about }) => about,
      async call(_input, { toolUseID, abortController }, _canUseTool, _message, onProgress) {
        const report = (part: number): void => onProgress({ toolUseID, data: part })
        return { data: await bodies.run(plannedOf(toolUseID), abortController.signal, report) }
      },
    }),
  )
}

export const inputOf = ({ about, isSafe }: PlannedCall): z.infer<typeof inputSchema> => ({ about, safe: isSafe })
