import type { AssistantMessage, Message } from '../messages/message.ts'
import type { PermissionAnswer } from '../tool/permission.ts'
import type { Records } from './records.ts'

/** What the log says of one call. The furthest stage counts: completed, started, answered, asked. */
export interface CallPast {
  readonly asked?: Records['permission.asked'] | undefined
  readonly answer?: PermissionAnswer | undefined
  readonly started?: Records['call.started'] | undefined
  readonly completed?: readonly Message[] | undefined
}

/** A background call that the log has, until its outcome is delivered. */
export interface LoggedBackground {
  readonly started: Records['background.started']
  /** The part of the reply with the call. */
  readonly message: AssistantMessage
  /** Its outcome, once it is over. */
  readonly outcome?: readonly Message[] | undefined
}

/** The same while the log grows. */
export type LoggedCall = { -readonly [Key in keyof CallPast]: CallPast[Key] }

/** What the log says of a call now. Only its answer may still come: whoever answers need not wait for it to be asked. */
export function pastOf(logged: LoggedCall): CallPast {
  const { asked, started, completed } = logged
  return {
    asked,
    started,
    completed,
    get answer() {
      return asked === undefined ? undefined : logged.answer
    },
  }
}

/** A reply that the log has, until the next one begins or the run ends. */
export interface OpenTurn {
  readonly reply: string
  blocks: Records['reply.block'][]
  /** By the id of the call. */
  readonly calls: Map<string, LoggedCall>
  stopped?: Records['reply.stopped'] | undefined
  /** Its messages are in the conversation; what follows it is still to be decided. */
  committed?: Records['turn.committed'] | undefined
}

export type ReplyJudgement = 'committed' | 'counts' | 'cutOff' | 'discarded'

/** A reply that was cut off counts only if a call with effects has started: only such calls have `call.started`. */
export function judgeReply({ stopped, committed, calls }: OpenTurn): ReplyJudgement {
  if (committed !== undefined) return 'committed'
  if (stopped !== undefined && stopped.isCutOff !== true) return 'counts'
  return [...calls.values()].some(({ started }) => started !== undefined) ? 'cutOff' : 'discarded'
}
