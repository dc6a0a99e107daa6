import { sha256 } from '../../base/sha256.ts'
import type { AgentCallRef, AnswerOrigin, AskedCall, QuestionDesk } from '../../pipeline/ask-channel.ts'
import type { PermissionAnswer, PermissionQuestion } from '../../tool/permission.ts'

/** A call that waits for a person. */
export interface SessionQuestion extends PermissionQuestion, AgentCallRef {
  /** Opaque. A question whose input has changed has another id. */
  readonly id: string
  /** Which agent asks: the calls it works for, outermost first. Empty for the session's own run. */
  readonly agents: readonly AgentCallRef[]
  readonly input: Record<string, unknown>
  /** A rule that would prevent this question, if the tool has a single one. */
  readonly rule?: string
}

interface Told {
  opened(question: SessionQuestion): void
  closed(id: string): void
}

/** The open questions of a session and of all agents inside it. */
export class QuestionBook implements QuestionDesk {
  readonly #session: string
  readonly #told: Told
  readonly #open = new Map<AskedCall, SessionQuestion>()

  constructor(session: string, told: Told) {
    this.#session = session
    this.#told = told
  }

  get questions(): SessionQuestion[] {
    return [...this.#open.values()]
  }

  opened(asked: AskedCall): void {
    const { answer: _answer, reply: _reply, id = this.#idOf(asked), ...shown } = asked
    const question = { ...shown, id }
    this.#open.set(asked, question)
    this.#told.opened(question)
  }

  closed(asked: AskedCall): void {
    const question = this.#open.get(asked)
    if (question === undefined) return
    this.#open.delete(asked)
    this.#told.closed(question.id)
  }

  answer(id: string, answer: PermissionAnswer, origin?: AnswerOrigin): boolean {
    for (const [asked, question] of this.#open) if (question.id === id) return asked.answer(answer, origin)
    return false
  }

  #idOf({ agents, reply, toolUseID, input }: AskedCall): string {
    return questionId([this.#session, ...agents.map((agent) => agent.toolUseID), reply, toolUseID], input)
  }
}

/** Made of where the question stands and of the input that is shown: another input is another question. */
export const questionId = (path: readonly string[], input: unknown): string =>
  `question_${sha256(JSON.stringify([path, input])).slice(0, 32)}`
