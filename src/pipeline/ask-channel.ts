import type { PermissionLists } from '../permission/permission-settings.ts'
import type { CanUseTool, PermissionAnswer, PermissionQuestion } from '../tool/permission.ts'

/** A call that an agent works for. */
export interface AgentCallRef {
  readonly toolUseID: string
  readonly toolName: string
}

/** The person or program that answered, and the note of the answer. */
export interface AnswerOrigin {
  readonly by?: string | undefined
  readonly note?: string | undefined
}

/** A call, of any agent, that waits for an answer. */
export interface AskedCall extends PermissionQuestion, AgentCallRef {
  /** Which agent asks: the calls it works for, outermost first. Empty for the run itself. */
  readonly agents: readonly AgentCallRef[]
  /** The id of the reply that asked for the call. */
  readonly reply: string
  readonly input: Record<string, unknown>
  /** The id under which a log has the question. */
  readonly id?: string | undefined
  /** The first answer counts; false if the question is no longer open. */
  answer(answer: PermissionAnswer, origin?: AnswerOrigin): boolean
}

/** Keeps a list of the open questions of a run and of all agents inside it. */
export interface QuestionListener {
  opened(question: AskedCall): void
  closed(question: AskedCall): void
}

/** The data that a `canUseTool` carries from the asking executor to the run around it. */
export interface AskChannel {
  addRules?: ((lists: PermissionLists) => void) | undefined
  readonly questions: QuestionListener | undefined
  readonly agents: readonly AgentCallRef[]
}

const channel = Symbol()

type OpenAsk = CanUseTool & { [channel]?: AskChannel }

/** Asks the same, and carries a channel. */
export function withChannel(canUseTool: CanUseTool, carried: AskChannel): CanUseTool {
  const ask: OpenAsk = (...question) => canUseTool(...question)
  ask[channel] = carried
  return ask
}

export const channelOf = (canUseTool: OpenAsk | undefined): AskChannel | undefined => canUseTool?.[channel]
