import type { Query, QueryMessage, QueryResult, Session } from 'signalbox'
import type { JournalStore } from 'signalbox/durable'
import { plainWord } from '../shell-word.ts'

/** A session that is kept in a folder. */
export interface StoredSession {
  readonly id: string
  /** `either` resumes a session that exists. */
  readonly mode: 'create' | 'resume' | 'either'
  readonly journals: JournalStore
  readonly folder: string
  /** Options that the next run needs too, as words of a command line. */
  readonly options?: readonly string[] | undefined
}

/** The runs of a session as one: from a prompt until nothing runs. Its limits hold for all prompts together. */
export class Chat implements Pick<Query, 'transcript' | 'interrupt' | 'abort' | 'next' | 'detach'> {
  readonly #session: Session
  readonly #isStored: boolean
  readonly #views: ReturnType<Session['resume']>[] = []

  constructor(session: Session, isStored: boolean) {
    this.#session = session
    this.#isStored = isStored
    const view = (): void => void this.#views.push(session.resume())
    if (session.status === 'running') view()
    // an answer that comes as a run is being suspended starts another one
    session.on('run_started', view)
  }

  get transcript(): Query['transcript'] {
    return this.#session.transcript
  }

  /** Without a prompt, it goes on with what a stored session has not finished. */
  begin(prompt: string | undefined): void {
    if (prompt === undefined) this.#session.resume()
    else this.#session.send(prompt)
  }

  async next(): Promise<IteratorResult<QueryMessage, QueryResult>> {
    for (let view = this.#views[0]; view !== undefined; view = this.#views[0]) {
      const step = await view.next()
      if (step.done !== true) return step
      this.#views.shift()
    }
    return { done: true, value: this.#session.result as QueryResult }
  }

  interrupt(): void {
    this.#session.interrupt()
  }

  detach(toolUseID: string): boolean {
    return this.#session.detach(toolUseID)
  }

  /** A process that is told to end suspends a stored session, so that another process can resume it. */
  abort(reason?: unknown): void {
    if (reason === 'terminated' && this.#isStored) this.#session.suspend().catch(() => undefined)
    else this.#session.abort(reason)
  }
}

/** The lines that say how to resume a suspended session. */
export function howToGoOn(
  { id, folder, options = [] }: StoredSession,
  questions: ReturnType<Session['questions']>,
): string[] {
  const place = `--journal ${plainWord(folder)}`
  const answers = questions.map(
    (question) =>
      `${question.toolName} waits for an answer: signalbox answer ${plainWord(id)} ${question.id} ${place} --allow (or --deny "<reason>")`,
  )
  const see = questions.length === 0 ? [] : [`See what is asked: signalbox sessions ${place}`]
  return [...see, ...answers, `Resume: ${['signalbox resume', plainWord(id), place, ...options].join(' ')}`]
}
