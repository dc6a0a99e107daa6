import { z } from 'zod'
import type { AnyTool, CanUseTool, PermissionAnswer, ToolCallContext } from '../../src/index.ts'
import { type HeldRun, type HeldTool, heldTool } from '../support/held-tool.ts'
import { type Answer, type CallTraits, type Keys, toolName } from './turn-view.ts'

const noYes = [false, true]
const allTraits: CallTraits[] = noYes.flatMap((safe) =>
  noYes.flatMap((cancel) =>
    noYes.flatMap((cascades) =>
      noYes.flatMap((obedient) => noYes.map((keyed) => ({ safe, cancel, cascades, obedient, keyed }))),
    ),
  ),
)

const inputSchema = z.looseObject({ command: z.string(), size: z.number().optional() })

export const denial = 'the host says no'

/** Tools of every kind, and a host, that act only on demand. */
export class HeldHost {
  readonly tools: readonly AnyTool[]
  /** Ids in the order in which their bodies started. */
  readonly started: string[] = []
  /** Ids in the order in which the host was asked about them. */
  readonly asked: string[] = []
  readonly signals = new Map<string, AbortSignal>()
  readonly #held = new Map<string, HeldTool>()
  readonly #answers = new Map<string, { input: Record<string, unknown>; give: (answer: PermissionAnswer) => void }>()

  constructor() {
    this.tools = allTraits.map((traits) => this.#makeTool(traits))
  }

  readonly canUseTool: CanUseTool = (_tool, input, _context, _message, id) => {
    if (input.asks !== true) return { behavior: 'allow' }
    this.asked.push(id)
    return new Promise((give) => this.#answers.set(id, { input, give }))
  }

  answer(id: string, answer: Answer): void {
    const asked = this.#answers.get(id)
    if (answer === 'allow') asked?.give({ behavior: 'allow' })
    else if (answer === 'allow with other keys') {
      const { otherKeys, ...input } = asked?.input ?? {}
      const updatedInput = otherKeys === undefined ? input : { ...input, otherKeys, keys: otherKeys }
      asked?.give({ behavior: 'allow', updatedInput })
    } else asked?.give({ behavior: 'deny', message: denial, interrupt: answer === 'deny and stop' })
  }

  run(name: string, id: string): HeldRun {
    const held = this.#held.get(name)
    if (held === undefined) throw new Error(`there is no tool ${name}`)
    return held.run(id)
  }

  #makeTool(traits: CallTraits): AnyTool {
    const { cascades, keyed, ...rest } = traits
    const name = toolName(traits)
    const held = heldTool(name, { ...rest, cancelsSiblingsOnError: cascades, inputSchema })
    this.#held.set(name, held)
    return {
      ...held.tool,
      ...(keyed && { resources: ({ keys }: Record<string, unknown>) => keys as Keys }),
      call: (input, context: ToolCallContext, ...others) => {
        this.started.push(context.toolUseID)
        this.signals.set(context.toolUseID, context.abortController.signal)
        return held.tool.call(input, context, ...others)
      },
    }
  }
}
