import { describe, expect, it } from 'vitest'
import {
  allowAllTools,
  type CanUseTool,
  createAssistantMessage,
  type Decision,
  runToolUse,
  StreamingToolExecutor,
} from '../../src/index.ts'
import { expectNoStrays } from '../cases/support.ts'
import { drain, isResult, resultOf, toolUse } from '../support/turn.ts'
import {
  type CallVoices,
  everyCall,
  everyRun,
  type RunVoices,
  rulesOf,
  settingsOf,
  voicedHook,
  voicedHost,
  voicedTool,
  wordsOf,
} from './combinations.ts'
import { referenceDecision } from './reference-decision.ts'

expectNoStrays()

interface Seen {
  readonly timesRun: number
  readonly timesAsked: number
  readonly decision: Decision | undefined
  readonly isError: boolean
}

function expected(run: RunVoices, call: CallVoices, rule: string): Seen {
  const { behavior, source, isAsked } = referenceDecision({ ...run, ...call, rules: rulesOf(run, rule) })
  const timesRun = behavior === 'allow' ? 1 : 0
  return { timesRun, timesAsked: isAsked ? 1 : 0, decision: { behavior, source }, isError: timesRun === 0 }
}

const count = (list: readonly string[], wanted: string): number => list.filter((each) => each === wanted).length

interface Variation {
  readonly canUseTool?: CanUseTool
  readonly rules?: readonly string[]
  readonly idleRules?: readonly string[]
}

/** One call alone, with a hook only if it has a decision. */
async function playAlone(
  run: RunVoices,
  call: CallVoices,
  { canUseTool, rules = ['Tool'], idleRules = [] }: Variation = {},
): Promise<Seen> {
  const ran: string[] = []
  const asked: string[] = []
  const toolDecisions = new Map<string, Decision>()
  const block = toolUse('a', 'Tool', { kind: 'this one' })
  const updates = runToolUse(block, createAssistantMessage([block]), canUseTool ?? voicedHost(run.host, asked), {
    options: { tools: [voicedTool('Tool', call, ran)] },
    permissions: settingsOf(run, rules, idleRules),
    ...(call.hook !== undefined && { hooks: { PreToolUse: [{ hooks: [voicedHook(() => call.hook)] }] } }),
    toolDecisions,
  })
  const results = []
  for await (const update of updates) if (isResult(update)) results.push(resultOf(update))
  expect(results).toHaveLength(1)
  return {
    timesRun: ran.length,
    timesAsked: asked.length,
    decision: toolDecisions.get('a'),
    isError: results[0]?.is_error === true,
  }
}

/** Every kind of call at once in one executor, with one hook for all of them, which returns nothing for some. */
async function playTogether(run: RunVoices): Promise<Seen[]> {
  const ran: string[] = []
  const asked: string[] = []
  const toolDecisions = new Map<string, Decision>()
  const nameOf = (index: number): string => `Tool${index}`
  const opinionOn = (name: string) => everyCall[Number(name.slice('Tool'.length))]?.hook
  const executor = new StreamingToolExecutor(
    everyCall.map((call, index) => voicedTool(nameOf(index), call, ran)),
    voicedHost(run.host, asked),
    {
      permissions: settingsOf(
        run,
        everyCall.map((_, index) => nameOf(index)),
      ),
      hooks: { PreToolUse: [{ hooks: [voicedHook(opinionOn)] }] },
      toolDecisions,
    },
  )
  executor.on('deferred', ({ toolUseID }) => executor.answer(toolUseID, { behavior: 'deny', message: 'said later' }))
  const message = createAssistantMessage([])
  for (const index of everyCall.keys()) executor.addTool(toolUse(nameOf(index), nameOf(index)), message)
  const results = (await drain(executor)).filter(isResult).map(resultOf)
  expect(results.map((result) => result.tool_use_id)).toEqual(everyCall.map((_, index) => nameOf(index)))
  return results.map(({ tool_use_id: id, is_error }) => ({
    timesRun: count(ran, id),
    timesAsked: count(asked, id),
    decision: toolDecisions.get(id),
    isError: is_error === true,
  }))
}

describe('every combination of hooks, rules, tool, mode and host', () => {
  it('P5 none is missing', () => {
    // 5 hooks, 4 tool checks, read-only or not, edits or not; 8 sets of rules, 5 modes, 3 hosts
    expect(everyCall).toHaveLength(5 * 4 * 2 * 2)
    expect(everyRun).toHaveLength(8 * 5 * 3)
    const all = everyRun.flatMap((run) => everyCall.map((call) => wordsOf(run, call)))
    expect(new Set(all).size).toBe(9_600)
  })

  it.each(everyRun)('P5 P6 Y6 alone: $mode, rules $ruled, host $host', async (run) => {
    const seen = new Map<string, Seen>()
    for (const call of everyCall) seen.set(wordsOf(run, call), await playAlone(run, call))
    expect(seen).toEqual(new Map(everyCall.map((call) => [wordsOf(run, call), expected(run, call, 'Tool')])))
    expect(seen.size).toBe(everyCall.length)
  })

  it.each(everyRun)('P5 P6 Y6 together: $mode, rules $ruled, host $host', async (run) => {
    const seen = await playTogether(run)
    expect(Object.fromEntries(seen.map((each, index) => [wordsOf(run, everyCall[index] as CallVoices), each]))).toEqual(
      Object.fromEntries(everyCall.map((call, index) => [wordsOf(run, call), expected(run, call, `Tool${index}`)])),
    )
  })

  it.each(everyRun)('P5 T6 with specifiers: $mode, rules $ruled, host $host', async (run) => {
    const rule = 'Tool(this one)'
    // a stride that shares no factor with the 80 kinds of call covers each of them in some run
    const sampled = everyCall.filter((_, index) => (index + everyRun.indexOf(run)) % 7 === 0)
    for (const call of sampled) {
      const seen = await playAlone(run, call, { rules: [rule], idleRules: ['Tool(another)', 'Other'] })
      expect([wordsOf(run, call), seen]).toEqual([wordsOf(run, call), expected(run, call, rule)])
    }
    expect(sampled.length).toBeGreaterThan(8)
  })

  it.each(
    everyRun.filter(({ host }) => host === 'allow'),
  )('P5 a host that allows everything is no way past the rest: $mode, rules $ruled', async (run) => {
    for (const call of everyCall) {
      const { timesRun, isError } = await playAlone(run, call, { canUseTool: allowAllTools })
      const wanted = expected(run, call, 'Tool')
      expect([wordsOf(run, call), timesRun, isError]).toEqual([wordsOf(run, call), wanted.timesRun, wanted.isError])
    }
  })
})
