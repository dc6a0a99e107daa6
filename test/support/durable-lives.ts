import { type JournalStore, memoryJournals, type OpenSessionOptions, openSession } from 'signalbox/durable'
import type { AnyTool, QueryMessage, Session, SessionView } from '../../src/index.ts'
import { heldModel } from './held-model.ts'
import { inShort } from './query.ts'
import { flush } from './turn.ts'

export interface Life {
  readonly session: Session
  readonly held: ReturnType<typeof heldModel>
}

/** The same session in one process after another. A new life fences the one before, which is how a crash looks here. */
export function lives(tools: readonly AnyTool[], options: Partial<OpenSessionOptions> = {}) {
  const journals: JournalStore = options.journals ?? memoryJournals()
  let count = 0
  const records = async () => {
    const all: Record<string, unknown>[] = []
    for await (const record of journals.read('s')) all.push(record)
    return all
  }
  return {
    journals,
    records,
    /** A crash loses what is not durable: waits until the log has records of this type. */
    written: async (type: string, times = 1): Promise<void> => {
      for (let round = 0; round < 2_000; round++) {
        if ((await records()).filter(({ t }) => t === type).length >= times) return
        await new Promise((resolve) => setTimeout(resolve, 0))
      }
      throw new Error(`the log has no ${type}`)
    },
    begin: async (more: Partial<OpenSessionOptions> = {}): Promise<Life> => {
      const held = heldModel()
      const owner = `life ${++count}`
      const session = await openSession({ id: 's', tools, model: held.model, ...options, ...more, journals, owner })
      return { session, held }
    },
  }
}

export async function readAll(view: SessionView): Promise<QueryMessage[]> {
  const seen: QueryMessage[] = []
  for await (const message of view) seen.push(message)
  return seen
}

export const said = (messages: readonly QueryMessage[]): string[] =>
  inShort(messages.filter((message) => message.type === 'assistant' || message.type === 'user'))

/** One reply with calls, all of it. */
export async function replyWith(life: Life, ...calls: readonly (readonly [id: string, name: string])[]): Promise<void> {
  const { held } = await startReply(life)
  for (const [id, name] of calls) held.call(id, name)
  held.end('tool_use')
  await settle()
}

export async function sayLast(life: Life, text = 'Done.'): Promise<void> {
  const { held } = await startReply(life)
  held.text(text)
  held.end()
  await settle()
}

const begun = new WeakMap<Life, number>()

/** Waits for the request, then begins the reply. */
export async function startReply(life: Life): Promise<Life> {
  const before = begun.get(life) ?? 0
  await until(() => life.held.requests.length > before)
  begun.set(life, life.held.requests.length)
  life.held.start()
  return life
}

/** Records are committed in between, so a step takes a few rounds. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 8; round++) await flush()
}

export async function until(isTrue: () => boolean): Promise<void> {
  for (let round = 0; round < 2_000; round++) {
    if (isTrue()) return
    await new Promise((resolve) => setTimeout(resolve, 0))
  }
  throw new Error('it did not happen')
}
