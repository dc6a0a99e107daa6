import { bullRunner, redisJournals, serveSessions } from '@signalbox/bullmq'
import { postgresJournals } from '@signalbox/postgres'
import type { AnyTool, Model } from 'signalbox'
import { remote } from 'signalbox/remote'
import { callBlock, textBlock } from '../../../src/testing/held-model.ts'
import { pay } from './pay-tool.ts'

/** An orchestrator in a process of its own, as its arguments say. */
export interface OrchestratorArguments {
  readonly connection: string
  readonly prefix: string
  readonly name: string
  readonly lockMs: number
  readonly checkMs: number
  readonly drainMs?: number
  readonly concurrency?: number
  /** In place of journals in Redis. */
  readonly postgres?: string
  /** Whether the bodies run on workers. */
  readonly isRemote?: boolean
  /** The file to which bodies write. */
  readonly file: string
  /** How long a body takes. */
  readonly ms: number
  /** How far its clock is ahead. */
  readonly skewMs?: number
}

const {
  postgres,
  isRemote,
  file,
  ms,
  skewMs = 0,
  ...options
} = JSON.parse(process.argv[2] ?? '{}') as OrchestratorArguments
const { now } = Date
Date.now = () => now() + skewMs
const engine = { connection: options.connection, prefix: options.prefix, onWarning: () => undefined }
const journals =
  postgres === undefined
    ? redisJournals({ ...engine, lockMs: options.lockMs })
    : postgresJournals({ connectionString: postgres, schema: options.prefix })
const runner = isRemote === true ? bullRunner({ ...engine, lookMs: 200 }) : undefined
const tool = (runner === undefined ? pay : remote(pay, runner)) as AnyTool
const ask = { ...(pay as AnyTool), name: 'Ask' }

/** Says what is next from the conversation alone: "pay a b" calls Pay for a, then for b; "ask a" asks a person first. */
const model: Model = async function* ({ messages }) {
  const texts = messages.map(({ content }) => (typeof content === 'string' ? content : textIn(content)))
  const last = texts.findLastIndex((text) => /^(pay|ask) /.test(text))
  const [command, ...keys] = texts[last]?.split(' ') ?? []
  const done = messages.slice(last).filter(({ role }) => role === 'assistant').length
  const key = keys[done]
  yield { type: 'message_start', message: { id: `reply_${last}_${done}`, model: 'm' } }
  if (key === undefined) yield* textBlock(0, 'Done.')
  else yield* callBlock(0, `call_${key}`, command === 'ask' ? 'Ask' : 'Pay', JSON.stringify({ key, file, ms }))
  yield { type: 'message_delta', delta: { stop_reason: key === undefined ? 'end_turn' : 'tool_use' } }
  yield { type: 'message_stop' }
}

const textIn = (content: readonly { type: string }[]): string =>
  content.map((block) => ('text' in block ? String(block.text) : '')).join('')

const served = await serveSessions({
  ...options,
  onWarning: () => undefined,
  journals,
  build: (id) => {
    if (id.startsWith('broken')) throw new Error('no such customer')
    if (id.startsWith('deadly')) process.kill(process.pid, 'SIGKILL')
    return { tools: [tool, ask], model, context: { permissions: { allow: ['Pay'] } } }
  },
})
process.send?.('ready')
process.channel?.unref()
await served.closed
await Promise.all([journals.end(), runner?.end()])
