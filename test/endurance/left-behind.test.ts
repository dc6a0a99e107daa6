import { setImmediate as nextTick } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import {
  allowAllTools,
  createAssistantMessage,
  createToolUseContext,
  query,
  StreamingToolExecutor,
  type ToolCallContext,
} from '../../src/index.ts'
import { createRecorder } from '../../src/inspect/index.ts'
import { scriptedModel } from '../../src/query/scripted/index.ts'

/** All objects of a turn that only Signalbox could still hold, by name. */
type Traces = Map<string, WeakRef<object>>

let collect: () => void

beforeAll(() => {
  setFlagsFromString('--expose-gc')
  collect = runInNewContext('gc')
})

const names = ['Quick', 'Fails', 'Alone', 'Reports'] as const

/** The host's own objects, which outlive the turn: the controller, the context, the tools, the hooks. */
function host(traces: Traces) {
  const trace = (name: string, value: object) => traces.set(`${name} ${traces.size}`, new WeakRef(value))
  const seen = (input: object, context: ToolCallContext) => {
    trace('input', input)
    trace('context', context)
    trace('controller', context.abortController)
    const data = { large: 'x'.repeat(100) }
    trace('data', data)
    return data
  }
  const tool = (name: (typeof names)[number], isSafe: boolean) => ({
    name,
    inputSchema: z.object({ path: z.string() }),
    isConcurrencySafe: () => isSafe,
    timeout: 60_000,
  })
  const tools = [
    {
      ...tool('Quick', true),
      call: async (input: object, context: ToolCallContext) => ({ data: seen(input, context) }),
    },
    {
      ...tool('Fails', true),
      call: async (input: object, context: ToolCallContext): Promise<{ data: unknown }> => {
        const error = new Error(`no ${Object.keys(seen(input, context))}`)
        trace('error', error)
        throw error
      },
    },
    {
      ...tool('Alone', false),
      call: async (input: object, context: ToolCallContext) => ({ data: seen(input, context) }),
    },
    {
      ...tool('Reports', true),
      async *call(input: object, context: ToolCallContext) {
        yield { type: 'progress' as const, data: seen(input, context) }
        yield { type: 'result' as const, data: 'done' }
      },
    },
  ]
  const hook = async (input: object) => {
    trace('hook input', input)
    return {}
  }
  const hooks = { PreToolUse: [{ hooks: [hook] }], PostToolUse: [{ hooks: [hook] }] }
  const context = createToolUseContext({ hooks, permissions: { allow: ['Quick'] } })
  return { tools, context, trace }
}

type Host = ReturnType<typeof host>

async function executorTurn({ tools, context, trace }: Host, isWatched: boolean): Promise<unknown[]> {
  const executor = new StreamingToolExecutor(tools, allowAllTools, context)
  trace('executor', executor)
  trace('actor', executor.actor)
  const watched = isWatched ? createRecorder({ onFrame: () => undefined }).watch(executor) : undefined
  for (let n = 0; n < 40; n++) {
    const block = { type: 'tool_use' as const, id: `toolu_${n}`, name: names[n % 4] as string, input: { path: `${n}` } }
    const message = createAssistantMessage([block])
    trace('block', block)
    trace('message', message)
    executor.addTool(block, message)
  }
  const results: unknown[] = []
  for await (const { message } of executor.getRemainingResults()) {
    trace('result', message)
    if (message?.type === 'user') results.push(JSON.stringify(message.message.content))
  }
  watched?.leave()
  return results
}

async function queryTurn({ tools, context, trace }: Host): Promise<unknown[]> {
  const calls = Array.from({ length: 40 }, (_, n) => ({ call: names[n % 4] as string, input: { path: `${n}` } }))
  const model = scriptedModel([calls, 'done'])
  trace('model', model)
  const run = query({ messages: 'go', tools, model, canUseTool: allowAllTools, context })
  trace('query', run)
  const results: unknown[] = []
  for await (const message of run) {
    trace('message', message)
    if (message.type === 'user') results.push(JSON.stringify(message.message.content))
  }
  return results
}

const runs: [string, (own: Host) => Promise<unknown[]>][] = [
  ['a turn', (own) => executorTurn(own, false)],
  ['a turn that was watched', (own) => executorTurn(own, true)],
  ['a query', (own) => queryTurn(own)],
]

describe('objects that remain after a turn', () => {
  it.each(runs)('Y5 after %s: nothing but what the host holds', async (_, run) => {
    const traces: Traces = new Map()
    const own = host(traces)
    const results = await run(own)
    expect(results).toHaveLength(40)
    expect(traces.size).toBeGreaterThan(200)
    expect(await leftOf(traces)).toEqual([])
    // the host's own objects exist the whole time
    expect(own.context.abortController.signal.aborted).toBe(false)
  })
})

/** Objects that survive garbage collection. One collection may keep what was just read or is being compiled. */
async function leftOf(traces: Traces): Promise<string[]> {
  let left: string[] = []
  for (let pass = 0; pass < 200; pass++) {
    await nextTick()
    collect()
    await nextTick()
    left = [...traces].filter(([, ref]) => ref.deref() !== undefined).map(([name]) => name)
    if (left.length === 0) break
  }
  return left
}
