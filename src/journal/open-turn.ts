import type { AssistantMessage, Message } from '../messages/message.ts'
import type { PermissionAnswer } from '../tool/permission.ts'
import type { Records } from './records.ts'

/** The recorded state of one call. The furthest stage counts: completed, started, answered, asked. */
export interface CallPast {
  readonly asked?: Records['permission.asked'] | undefined
  readonly answer?: PermissionAnswer | undefined
  readonly started?: Records['call.started'] | undefined
  readonly completed?: readonly Message[] | undefined
  /** It is completed, and these keys of the context change when every call before it is completed too. */
  readonly changes?: Readonly<Record<string, unknown>> | undefined
  /** It is completed, and its body had begun. */
  readonly hasRun?: boolean | undefined
  /** The background calls whose outcomes its result tells. */
  readonly read?: readonly string[] | undefined
  /** The background call that it became. It counts when the call is completed. */
  readonly background?: LoggedBackground | undefined
  /** The log of the outermost session has counted it. */
  readonly isCounted?: boolean | undefined
}

/** A background call that the log has, until its outcome is delivered. */
export interface LoggedBackground {
  readonly started: Records['background.started']
  /** The part of the reply with the call. */
  readonly message: AssistantMessage
  /** Its outcome, once it is over. */
  readonly outcome?: readonly Message[] | undefined
  /** The background calls whose outcomes its own outcome tells. */
  readonly read?: readonly string[] | undefined
}

/** The same while the log grows. */
export type LoggedCall = { -readonly [Key in keyof CallPast]: CallPast[Key] }

/** The current recorded state of a call. Only the answer can still change: it may come before the question is asked again. */
export function pastOf(logged: LoggedCall): CallPast {
  const { asked, started, completed, changes, isCounted } = logged
  return {
    asked,
    started,
    completed,
    changes,
    isCounted,
    get answer() {
      return asked === undefined ? undefined : logged.answer
    },
  }
}

/** The recorded reply, until the next one begins or the run ends. */
export interface OpenTurn {
  readonly reply: string
  blocks: Records['reply.block'][]
  /** By the id of the call. */
  readonly calls: Map<string, LoggedCall>
  stopped?: Records['reply.stopped'] | undefined
  /** The context before the first change by one of its calls. */
  contextBefore?: Record<string, unknown> | undefined
  /** Its messages are in the conversation; the next step is not decided yet. */
  committed?: Records['turn.committed'] | undefined
}

export type ReplyJudgement = 'committed' | 'counts' | 'cutOff' | 'discarded'

/** A reply that was cut off counts only if a call with effects has started: only such calls have `call.started`. */
export function judgeReply({ stopped, committed, calls }: OpenTurn): ReplyJudgement {
  if (committed !== undefined) return 'committed'
  if (stopped !== undefined && stopped.isCutOff !== true) return 'counts'
  return [...calls.values()].some(({ started }) => started !== undefined) ? 'cutOff' : 'discarded'
}
