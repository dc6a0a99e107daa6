import { z } from 'zod'
import { defineTool } from '../../src/index.ts'
import { type Hold, heldTool, type Invariant, type TurnSetup } from '../../src/testing/index.ts'

const held = [heldTool('Read', { safe: true }).tool, heldTool('Edit').tool]

let text = ''
const edit = (hold: Hold) =>
  defineTool({
    name: 'Edit',
    inputSchema: z.object({ add: z.string() }),
    isConcurrencySafe: () => true,
    call: async ({ add }) => {
      const before = text
      await hold(`it's "${add}"\nthat is written`)
      text = before + add
      return { data: 'edited' }
    },
  })

const wish = (name: string, check: Invariant['check']): Invariant => ({ name, check })

/** Small turns with a breach of every kind. */
export const brokenSetups = {
  atTheEnd: {
    tools: (hold: Hold) => {
      text = ''
      return [edit(hold)]
    },
    calls: ['1', '2'].map((add) => ({ tool: 'Edit', input: { add } })),
    happenings: { abort: false, interrupt: false, discard: false, reader: false },
    state: () => text,
    atEnd: () => {
      if (text !== '12') throw new Error(`an edit was lost:\n${text}`)
    },
  },
  anInvariant: {
    tools: held,
    calls: [{ tool: 'Read' }, { tool: 'Edit' }],
    phases: 'all',
    arrival: 'together',
    invariants: [wish('no Edit is denied', ({ calls }) => calls.find((call) => call.deniedAt !== undefined)?.id)],
  },
  aHappening: {
    tools: held,
    calls: [{ tool: 'Edit' }],
    happenings: { hostAbort: true, abort: true, flood: true },
    options: { abortGraceMs: 700, maxBufferedProgress: 3 },
    invariants: [
      wish('nothing is dropped', ({ calls }) => calls.find(({ progressDropped }) => progressDropped > 0)?.id),
    ],
  },
  theContext: {
    tools: held,
    calls: [{ tool: 'Read' }, { tool: 'Edit' }],
    context: { permissions: { deny: ['Edit'] } },
    invariants: [wish('nothing is denied', ({ calls }) => calls.find((call) => call.deniedAt !== undefined)?.id)],
  },
  codeInTheContext: {
    tools: held,
    calls: [{ tool: 'Read' }],
    context: {
      hooks: {
        PreToolUse: [
          {
            hooks: [
              async () => ({
                hookSpecificOutput: { hookEventName: 'PreToolUse' as const, permissionDecision: 'deny' as const },
              }),
            ],
          },
        ],
      },
    },
    invariants: [wish('nothing is denied', ({ calls }) => calls.find((call) => call.deniedAt !== undefined)?.id)],
  },
  itNeverEnds: {
    tools: (hold: Hold) => [
      {
        ...heldTool('Read', { safe: true }).tool,
        call: () => hold('never').then(() => new Promise<never>(() => undefined)),
      },
    ],
    calls: [{ tool: 'Read' }],
    happenings: { abort: false, interrupt: false, discard: false },
  },
} satisfies Record<string, TurnSetup>
