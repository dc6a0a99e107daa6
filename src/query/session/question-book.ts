import { sha256 } from '../../base/sha256.ts'
import {
  type AgentCallRef,
  type AnswerOrigin,
  type AskedCall,
  channelOf,
  type QuestionListener,
  withChannel,
} from '../../pipeline/ask-channel.ts'
import {
  allowAllTools,
  type CanUseTool,
  type PermissionAnswer,
  type PermissionQuestion,
} from '../../tool/permission.ts'
import type { QuestionEvents } from './question-events.ts'
import type { SessionOptions } from './session-options.ts'

/** A call that waits for a person. */
export interface SessionQuestion extends PermissionQuestion, AgentCallRef {
  /** Opaque. A question whose input has changed has another id. */
  readonly id: string
  /** Which agent asks: the calls it works for, outermost first. Empty for the session's own run. */
  readonly agents: readonly AgentCallRef[]
  readonly input: Record<string, unknown>
}

/** The open questions of a session and of all agents inside it. */
export class QuestionBook implements QuestionListener {
  readonly #session: string
  readonly #events: QuestionEvents
  readonly #open = new Map<AskedCall, SessionQuestion>()

  constructor(session: string, events: QuestionEvents) {
    this.#session = session
    this.#events = events
  }

  get questions(): SessionQuestion[] {
    return [...this.#open.values()]
  }

  opened(asked: AskedCall): void {
    const { answer: _answer, reply: _reply, id = this.#idOf(asked), ...shown } = asked
    const question = { ...shown, id }
    this.#open.set(asked, question)
    this.#events.opened(question)
  }

  closed(asked: AskedCall): void {
    if (this.#open.delete(asked)) this.#events.check()
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

/** Without a host to ask, a question waits for `answer`. */
export function askThrough(
  { canUseTool = () => ({ behavior: 'later' }), context }: SessionOptions,
  listener: QuestionListener,
): CanUseTool {
  // recognized by identity, so that calls skip the permission phase; then only a hook can pause a call
  if (canUseTool === allowAllTools && context?.hooks === undefined) return canUseTool
  return withChannel(canUseTool, { addRules: channelOf(canUseTool)?.addRules, questions: listener, agents: [] })
}
