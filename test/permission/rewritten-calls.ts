import fc from 'fast-check'
import { z } from 'zod'
import type { AnyTool, CanUseTool, HookCallback, PermissionAnswer } from '../../src/index.ts'
import { idsOf } from '../cases/support.ts'
import { flush, stateOf, takeAll, testTurn } from '../support/turn.ts'

/** Mostly safe, so that bodies run in parallel. */
const mostlySafe = fc.constantFrom(true, true, true, true, false)
const flip = fc.option(mostlySafe, { nil: undefined })

/** Calls whose class is changed by a hook, by the host, by both or by neither; and the order of the steps. */
export const arbitraryRewrites = fc.record({
  calls: fc.array(fc.record({ isSafe: mostlySafe, byHook: flip, byHost: flip, isVetted: fc.boolean() }), {
    minLength: 2,
    maxLength: 6,
  }),
  choices: fc.array(fc.nat(), { minLength: 1, maxLength: 40 }),
})
type Story = typeof arbitraryRewrites extends fc.Arbitrary<infer Made> ? Made : never

interface Told {
  /** Calls that ran beside another while one of the two was unsafe. */
  readonly overlaps: string[]
  /** How many bodies ran at once. */
  readonly most: number
  readonly becameUnsafe: number
  readonly results: string[]
}

/** Plays a story step by step: the story chooses which waiting part continues. */
export async function playRewrites({ calls, choices }: Story): Promise<Told> {
  const running = new Map<string, { isSafe: boolean; finish: () => void }>()
  const questions = new Map<string, (answer: PermissionAnswer) => void>()
  const overlaps: string[] = []
  let most = 0
  const tool: AnyTool = {
    name: 'Tool',
    inputSchema: z.looseObject({ isSafe: z.boolean() }),
    isConcurrencySafe: ({ isSafe }) => isSafe === true,
    // some checks are asynchronous, so that other calls may start meanwhile
    validateInput: ({ isVetted }) => (isVetted === true ? Promise.resolve({ result: true }) : { result: true }),
    call: ({ isSafe }, { toolUseID }) =>
      new Promise((resolve) => {
        const beside = [...running].filter(([, other]) => isSafe !== true || !other.isSafe)
        overlaps.push(...beside.map(([id]) => `${toolUseID} beside ${id}`))
        const finish = () => {
          running.delete(toolUseID)
          resolve({ data: 'done' })
        }
        running.set(toolUseID, { isSafe: isSafe === true, finish })
        most = Math.max(most, running.size)
      }),
  }
  const callOf = (id: string) => calls[Number(id.slice('call'.length))]
  const rewrite = (isSafe: boolean | undefined, isVetted: boolean | undefined) =>
    isSafe === undefined ? {} : { updatedInput: { isSafe, isVetted } }
  const hook: HookCallback = async (_input, id = '') => ({
    hookSpecificOutput: { hookEventName: 'PreToolUse', ...rewrite(callOf(id)?.byHook, callOf(id)?.isVetted) },
  })
  const canUseTool: CanUseTool = (_tool, _input, _context, _message, id) =>
    new Promise((resolve) => questions.set(id, resolve))
  const { executor, add } = testTurn([tool], { canUseTool, context: { hooks: { PreToolUse: [{ hooks: [hook] }] } } })
  for (const [index, { isSafe, isVetted }] of calls.entries()) add(`call${index}`, 'Tool', { isSafe, isVetted })

  let becameUnsafe = 0
  // each call has one question and finishes once
  for (let step = 0; step < 2 * calls.length; step++) {
    await flush()
    const choice = choices[step % choices.length] ?? 0
    const waiting = [...questions.keys(), ...running.keys()]
    const id = waiting[choice % waiting.length]
    if (id === undefined) break
    const answer = questions.get(id)
    if (answer === undefined) running.get(id)?.finish()
    else {
      questions.delete(id)
      answer({ behavior: 'allow', ...rewrite(callOf(id)?.byHost, callOf(id)?.isVetted) })
      await flush()
      becameUnsafe += stateOf(executor, id) === 'queued' ? 1 : 0
    }
  }
  await flush()
  return { overlaps, most, becameUnsafe, results: idsOf(takeAll(executor)) }
}
