import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  allowAllTools,
  type CanUseTool,
  createAssistantMessage,
  type PermissionAnswer,
  StreamingToolExecutor,
} from '../../src/index.ts'
import { expectNoStrays } from '../cases/support.ts'
import { drain, flush, isResult, resultOf, testTurn, toolUse } from '../support/turn.ts'
import { forbids, guardedTurn, hookOnTrial, toolsOnTrial } from './arbitrary-guarded-turn.ts'
import { arbitraryQuestions, playQuestions } from './open-questions.ts'
import { arbitraryRewrites, playRewrites } from './rewritten-calls.ts'

expectNoStrays()

const { SIGNALBOX_FULL } = process.env
const numRuns = SIGNALBOX_FULL ? 10_000 : 1_000
const settings = { numRuns }

type Host = (typeof guardedTurn extends fc.Arbitrary<infer Turn> ? Turn : never)['host']

function hostOf(host: Host): CanUseTool | undefined {
  if (host.behavior === 'absent') return undefined
  if (host.behavior === 'everything') return allowAllTools
  if (host.behavior === 'deny') return () => ({ behavior: 'deny', message: 'no' })
  const { rewrite } = host
  return async () => ({ behavior: 'allow', ...(rewrite !== undefined && { updatedInput: { kind: rewrite } }) })
}

describe('random combinations of permissions', () => {
  it('P5 P4 no call runs with an input that a deny rule matches', async () => {
    const seen = { ran: 0, refused: 0 }
    await fc.assert(
      fc.asyncProperty(guardedTurn, async ({ mode, deny, ask, allow, hooks, host, manner, calls }) => {
        const texts = (rules: readonly { text: string }[]) => rules.map(({ text }) => text)
        const broken: unknown[] = []
        const tools = toolsOnTrial(manner, (tool, input) => {
          seen.ran++
          const hit = deny.find((rule) => forbids(rule, tool, input.kind, manner))
          if (hit !== undefined) broken.push([tool, input, hit.text])
        })
        const executor = new StreamingToolExecutor(tools, hostOf(host), {
          permissions: { mode, deny: texts(deny), ask: texts(ask), allow: texts(allow) },
          hooks: { PreToolUse: [{ hooks: hooks.map(hookOnTrial) }] },
        })
        const message = createAssistantMessage([])
        for (const [index, { name, kind }] of calls.entries()) {
          executor.addTool(toolUse(`call${index}`, name, { kind }), message)
        }
        const results = (await drain(executor)).filter(isResult).map(resultOf)
        expect(results.map((result) => result.tool_use_id)).toEqual(calls.map((_, index) => `call${index}`))
        seen.refused += results.filter((result) => result.is_error === true).length
        expect(broken).toEqual([])
      }),
      settings,
    )
    // a property in which nothing ever runs, or nothing is ever stopped, would prove nothing
    expect(seen.ran).toBeGreaterThan(numRuns / 10)
    expect(seen.refused).toBeGreaterThan(numRuns / 10)
  })

  it('P4 Q4 no changed input lets an unsafe call run beside another', async () => {
    const seen = { together: 0, requeued: 0 }
    await fc.assert(
      fc.asyncProperty(arbitraryRewrites, async (story) => {
        const { overlaps, most, becameUnsafe, results } = await playRewrites(story)
        expect(overlaps).toEqual([])
        expect(results).toEqual(story.calls.map((_, index) => `call${index}`))
        seen.together += most > 1 ? 1 : 0
        seen.requeued += becameUnsafe
      }),
      settings,
    )
    expect(seen.together).toBeGreaterThan(numRuns / 20)
    expect(seen.requeued).toBeGreaterThan(numRuns / 20)
  })

  it('P6 each question is answered separately, and its first answer counts', async () => {
    await fc.assert(
      fc.asyncProperty(arbitraryQuestions, async (story) => {
        const { seen, expected } = await playQuestions(story)
        expect(seen).toEqual(expected)
      }),
      settings,
    )
  })

  it('P6 an answer to a question that was never asked is rejected and changes nothing', async () => {
    const asked: ((answer: PermissionAnswer) => void)[] = []
    const { executor, add } = testTurn(
      toolsOnTrial('plain', () => undefined),
      {
        canUseTool: () => new Promise((resolve) => asked.push(resolve)),
      },
    )
    add('a', 'Bash', { kind: 'odd' })
    add('b', 'Bash', { kind: 'odd' })
    await flush()
    // b waits in the queue behind a: its question is not open yet
    expect(executor.answer('b', { behavior: 'allow' })).toBe(false)
    expect(executor.answer('nobody', { behavior: 'allow' })).toBe(false)
    expect(executor.openQuestions().map(({ toolUseID }) => toolUseID)).toEqual(['a'])
    asked[0]?.({ behavior: 'allow' })
    await flush()
    expect(asked).toHaveLength(2)
    expect(executor.answer('a', { behavior: 'allow' })).toBe(false)
  })
})
