import type { AgentCallRef } from '../pipeline/ask-channel.ts'
import type { SessionQuestion } from '../query/session/question-book.ts'
import type { SessionLog } from './session-log.ts'

interface OpenAgent {
  readonly log: SessionLog
  readonly call: AgentCallRef
}

/**
 * The logs of the agents inside a session. They stay open as long as the outer one does, so that no earlier owner can
 * write to them and their questions can be answered while nothing runs.
 */
export class AgentLogs {
  readonly #open = new Map<string, OpenAgent>()

  get(id: string): SessionLog | undefined {
    return this.#open.get(id)?.log
  }

  get isEmpty(): boolean {
    return this.#open.size === 0
  }

  get ids(): string[] {
    return [...this.#open.keys()]
  }

  get logs(): SessionLog[] {
    return [...this.#open.values()].map(({ log }) => log)
  }

  get questions(): SessionQuestion[] {
    return [...this.#open.values()].flatMap(({ log, call }) =>
      log.questions.map((question) => ({ ...question, agents: [call, ...question.agents] })),
    )
  }

  /** The log that has a question, however deep inside. */
  find(question: string): SessionLog | undefined {
    return this.logs.find((log) => log.questions.some(({ id }) => id === question))
  }

  add(id: string, agent: OpenAgent): void {
    this.#open.set(id, agent)
  }

  remove(id: string): SessionLog | undefined {
    const log = this.get(id)
    this.#open.delete(id)
    return log
  }

  async close(): Promise<void> {
    for (const id of this.ids)
      await this.remove(id)
        ?.shut()
        .catch(() => undefined)
  }
}
