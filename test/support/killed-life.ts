import { appendFileSync } from 'node:fs'
import { type AnyTool, defineTool, type Model } from 'signalbox'
import { type JournalStore, openSession } from 'signalbox/durable'
import { subAgent } from 'signalbox/sub-agent'
import { z } from 'zod'
import { callBlock, textBlock } from '../../src/testing/held-model.ts'

/** One life of a session. `effects` is a file; `seed` decides what this life is like. */
export interface LifeOf {
  readonly id: string
  readonly effects: string
  readonly seed: number
}

/** Lives of several sessions in a process that is killed at any moment. */
export async function liveAll(journals: JournalStore, lives: readonly LifeOf[]): Promise<void> {
  await Promise.all(lives.map((life) => live(journals, life)))
  process.send?.({ isOver: true }, () => process.exit(0))
}

async function live(journals: JournalStore, { id, effects, seed }: LifeOf): Promise<void> {
  const random = randomBy(seed)
  const pause = () => new Promise<void>((resolve) => (random() < 0.5 ? setImmediate(resolve) : setTimeout(resolve, 1)))
  const tell = (line: object) => {
    appendFileSync(effects, `${JSON.stringify(line)}\n`)
    process.send?.({ step: line })
  }
  const work = (name: string, more: object = {}) =>
    defineTool({
      name,
      inputSchema: z.object({ key: z.string() }),
      call: async ({ key }) => {
        tell({ began: key, name })
        // long enough for a kill to find it
        await new Promise((resolve) => setTimeout(resolve, 10 * random()))
        tell({ did: key, name })
        return { data: `did ${key}` }
      },
      ...more,
    }) as AnyTool
  const tools = [
    work('Write'),
    work('Read', { isReadOnly: () => true, isConcurrencySafe: () => true }),
    // a tool that is gone in some lives
    ...(random() < 0.8 ? [work('Sometimes')] : []),
  ]
  const agent = subAgent({
    tools: [tools[0] as AnyTool],
    model: modelOf('agent', [[['Write', 'w']]], pause),
  }) as AnyTool
  const hooks = random() < 0.5 ? { PreToolUse: [{ hooks: [() => pause().then(() => ({}))] }] } : undefined
  const deny = random() < 0.15 ? ['Sometimes'] : []
  const session = await openSession({
    id,
    journals,
    tools: [...tools, agent],
    model: modelOf('outer', plan, pause),
    context: { permissions: { allow: ['Agent', 'Read'], deny }, ...(hooks && { hooks }) },
    canUseTool: async (_tool, input, _context, _message, call) => {
      tell({ asked: call, key: input.key })
      await pause()
      return { behavior: 'allow' }
    },
  })
  process.send?.({ opened: session.status })
  session.on('run_started', ({ run }) => {
    run.onMessage((message) => {
      const isResult = message.type === 'user' && JSON.stringify(message.message.content).includes('tool_result')
      process.send?.({ step: 'message', ...(isResult && { result: message.uuid }) })
    })
  })
  if (session.transcript.length === 0 && session.status === 'idle') session.send('go')
  else if (session.status === 'suspended') session.resume()
  await session.whenIdle()
  const { transcript } = session
  await session.close()
  process.send?.({ ended: id, transcript })
}

/** Replies of the outer model: calls with their keys. */
const plan: readonly (readonly (readonly [tool: string, key: string])[])[] = [
  [
    ['Read', 'r1'],
    ['Write', 'w1'],
    ['Read', 'r2'],
  ],
  [
    ['Agent', 'a'],
    ['Sometimes', 's1'],
  ],
  [['Write', 'w2']],
]

/** Says what is next from the conversation alone. */
const modelOf = (name: string, replies: typeof plan, pause: () => Promise<void>): Model =>
  async function* ({ messages }) {
    const done = messages.filter(({ role }) => role === 'assistant').length
    yield { type: 'message_start', message: { id: `${name}_${done}`, model: name } }
    for (const [index, [tool, key]] of (replies[done] ?? []).entries()) {
      await pause()
      const input = tool === 'Agent' ? { prompt: 'work' } : { key }
      yield* callBlock(index, `${name}_${key}`, tool, JSON.stringify(input))
    }
    const isLast = replies[done] === undefined
    if (isLast) yield* textBlock(0, 'Done.')
    yield { type: 'message_delta', delta: { stop_reason: isLast ? 'end_turn' : 'tool_use' } }
    yield { type: 'message_stop' }
  }

function randomBy(seed: number): () => number {
  let state = seed | 0
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) | 0
    return (state >>> 8) / 2 ** 24
  }
}
