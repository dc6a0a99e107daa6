import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { AnyTool, CanUseTool, Message, StreamingToolExecutor } from '../../src/index.ts'
import { expectNoStrays, limitSteps, never } from '../cases/support.ts'
import { drain, flush, takeAll, testTurn } from '../support/turn.ts'
import { hookedTurn, type Plan, plannedHooks } from './arbitrary-hooked-turn.ts'

expectNoStrays()

const { SIGNALBOX_FULL } = process.env
const numRuns = SIGNALBOX_FULL ? 10_000 : 1_000
const settings = { numRuns }

const planFinder = (plans: readonly Plan[]) => (id: string) => plans[Number(id.slice('call'.length))]

/** A tool whose bodies follow the plan of their call, and end when the test decides. */
function plannedTool(planOf: (id: string) => Plan | undefined, bodies: (() => void)[]): AnyTool {
  return {
    name: 'Tool',
    inputSchema: z.looseObject({ isSafe: z.boolean() }),
    isConcurrencySafe: ({ isSafe }) => isSafe === true,
    cancelsSiblingsOnError: ({ error }) => error instanceof RangeError,
    retry: { attempts: 2, backoffMs: 1_000 },
    timeout: 100_000,
    call: async (_input, { toolUseID, abortController: { signal } }) => {
      const plan = planOf(toolUseID)
      if (plan?.body === 'fails') throw new Error('body')
      if (plan?.body === 'failsForAll') throw new RangeError('body')
      if (plan?.body === 'ignoresAbort') return never()
      if (plan?.body === 'isHeld') {
        await new Promise<void>((resolve, reject) => {
          bodies.push(resolve)
          signal.addEventListener('abort', () => reject(signal.reason))
        })
      }
      return { data: `${toolUseID} done` }
    },
  }
}

/** The call of a message. */
const ownerOf = (message: Message): unknown =>
  message.type === 'user' && Array.isArray(message.message.content)
    ? message.message.content[0]?.tool_use_id
    : (message as { toolUseID?: unknown }).toolUseID

describe('random combinations of hooks', () => {
  it('Y6 Y1 P4 P9 A7 one result for each call, in order, followed by the messages of its hooks', async () => {
    await fc.assert(
      fc.asyncProperty(hookedTurn, async ({ plans, moves }) => {
        const planOf = planFinder(plans)
        const bodies: (() => void)[] = []
        const ran: string[] = []
        const own: { executor?: StreamingToolExecutor } = {}
        const canUseTool: CanUseTool = (_tool, _input, _context, _message, id) => {
          const host = planOf(id)?.host
          if (host === 'isHeld') return never()
          if (host === 'denies') return { behavior: 'deny', message: 'no' }
          return { behavior: 'allow', ...(host === 'makesUnsafe' && { updatedInput: { isSafe: false } }) }
        }
        const hooks = {
          PreToolUse: [{ hooks: plannedHooks(planOf, 'PreToolUse', own, ran) }],
          PostToolUse: [{ hooks: plannedHooks(planOf, 'PostToolUse', own, ran) }],
          PostToolUseFailure: [{ hooks: plannedHooks(planOf, 'PostToolUseFailure', own, ran) }],
        }
        const { executor, add, clock } = testTurn([plannedTool(planOf, bodies)], { canUseTool, context: { hooks } })
        own.executor = executor
        limitSteps(executor, 5_000)
        const ids = plans.map((_, index) => `call${index}`)
        for (const [index, id] of ids.entries()) add(id, 'Tool', { isSafe: plans[index]?.isSafe })

        const read: Message[] = []
        for (const move of moves) {
          await flush()
          if (move === 'wait') clock.increment(1_000)
          else if (move === 'waitLong') clock.increment(60_000)
          else if (move === 'finish') bodies.shift()?.()
          else if (move === 'read') read.push(...takeAll(executor).map(({ message }) => message))
          else if (move === 'interrupt') executor.abort('interrupt')
          else if (move === 'abort') executor.abort('escape')
        }
        await flush()
        executor.abort('the end')
        await flush()
        clock.increment(5_000)
        read.push(...(await drain(executor)).map(({ message }) => message))

        const kinds = read.map((message) => [ownerOf(message), message.type] as const)
        expect(kinds.filter(([, type]) => type === 'user').map(([id]) => id)).toEqual(ids)
        // the messages of a call are consecutive, its result first
        expect(read.map(ownerOf)).toEqual(ids.flatMap((id) => kinds.filter(([owner]) => owner === id).map(() => id)))
        for (const id of ids) expect(kinds.find(([owner]) => owner === id)?.[1]).toBe('user')
        expect(new Set(ran).size).toBe(ran.length)
      }),
      settings,
    )
  })
})
