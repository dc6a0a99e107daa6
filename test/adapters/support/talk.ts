import { z } from 'zod'
import {
  allowAllTools,
  defineTool,
  type Message,
  type Model,
  type QueryOptions,
  type QueryResult,
  query,
} from '../../../src/index.ts'

export interface Talk {
  readonly transcript: readonly Message[]
  readonly messages: readonly Message[]
  readonly result: QueryResult | undefined
  /** The calls that ran, with their input. */
  readonly ran: string[]
}

/** Runs a query with a safe tool `Read`, an unsafe tool `Write`, and further ones by name. */
export async function talk(
  model: Model,
  messages: QueryOptions['messages'] = 'Go.',
  { more = [], ...options }: { more?: string[] } & Partial<QueryOptions> = {},
): Promise<Talk> {
  const ran: string[] = []
  const tools = ['Read', 'Write', ...more].map((name) =>
    defineTool({
      name,
      inputSchema: z.looseObject({}),
      isConcurrencySafe: () => name === 'Read',
      isReadOnly: () => name === 'Read',
      call: async (input) => {
        ran.push(`${name} ${JSON.stringify(input)}`)
        return { data: `${name} ran` }
      },
    }),
  )
  const run = query({ messages, tools, model, canUseTool: allowAllTools, maxTurns: 8, ...options })
  const seen: Message[] = []
  for await (const message of run) if (message.type !== 'stream_event') seen.push(message)
  return { transcript: run.transcript, messages: seen, result: run.result, ran }
}
