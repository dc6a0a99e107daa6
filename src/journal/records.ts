import type {
  Decision,
  DecisionSource,
  Ending,
  LimitReached,
  PermissionVerdict,
  Reached,
  StopCause,
} from '../../machines/index.ts'
import type { AssistantMessage, Message, SystemMessage, UserMessage } from '../messages/message.ts'
import type { PermissionLists } from '../permission/permission-settings.ts'
import type { PermissionAnswer } from '../tool/permission.ts'
import type { Spent } from '../usage/usage-total.ts'
import type { KeptContext } from './kept-context.ts'

/** The combined decision of the hooks before a call. */
interface RecordedVerdict {
  readonly permission: PermissionVerdict
  readonly hookName: string
  readonly message: string
}

/** A question as it was shown, so that it can be listed while nothing runs. */
export interface RecordedQuestion {
  readonly toolName: string
  readonly input: Record<string, unknown>
  readonly because: DecisionSource
  readonly message?: string | undefined
  readonly rule?: string | undefined
}

/** A call is named by its reply and its id, never by its position. */
interface OfCall {
  readonly reply: string
  readonly call: string
}

/** How a call became completed, for whoever looks at the log. */
export interface RecordedEnding {
  readonly by: Exclude<Ending['by'], 'journal'>
  /** Of an abort. */
  readonly kind?: StopCause['kind'] | undefined
  /** How far the call was. `notStarted`: its body did not run in this process. */
  readonly reached?: Reached | undefined
}

/** Background calls whose outcomes these messages tell the model. */
interface TellsOutcomes {
  readonly read?: readonly string[] | undefined
}

/** The key of a note that the record copies. */
interface CopiesNote {
  readonly note?: string | undefined
}

export interface Records {
  'message.sent': CopiesNote & { readonly message: UserMessage }
  /** `took`: the messages that entered the conversation before this reply, by uuid. */
  'reply.started': { readonly reply: string; readonly took: readonly string[] }
  'reply.block': {
    readonly reply: string
    readonly message: AssistantMessage
    /** Blocks of a reply stand in the order in which they began; they may end, and be recorded, in another one. */
    readonly order?: number | undefined
    /** Why the arguments of the call could not be read. */
    readonly problem?: string | undefined
    /** The call came without arguments. */
    readonly isBare?: boolean | undefined
  }
  'reply.stopped': {
    readonly reply: string
    readonly isWhole: boolean
    /** The stream failed after something with effects had started. */
    readonly isCutOff?: boolean | undefined
    readonly stopReason?: string | undefined
    readonly stopDetails?: unknown
    readonly container?: unknown
    /** The messages that reported it to the host. */
    readonly reports: readonly SystemMessage[]
    readonly usesFallback?: boolean | undefined
  }
  'permission.asked': OfCall & {
    readonly question: string
    readonly shown: RecordedQuestion
    /** The input before the schema reads it, with the changes of hooks. */
    readonly input: unknown
    readonly verdict?: RecordedVerdict | undefined
  }
  'permission.answered': OfCall &
    CopiesNote & { readonly question: string; readonly answer: PermissionAnswer; readonly by?: string | undefined }
  /** `input`: before the schema reads it, with the changes of hooks and host. */
  'call.started': OfCall & { readonly input: unknown; readonly decision?: Decision | undefined }
  /**
   * `ending` is left out where the body ran and has a result of its own. `context`: the keys that its
   * modifier changes, of those that are kept. They hold from `context.changed` on, when every call before it is completed.
   */
  'call.completed': OfCall &
    TellsOutcomes & {
      readonly messages: readonly Message[]
      readonly ending?: RecordedEnding | undefined
    } & Partial<KeptContext>
  /** The keys of the context that are kept, after the modifiers of this call and of those before it. */
  'context.changed': OfCall & KeptContext & { readonly optional: true }
  /** The body of the call is an agent, which is a session of its own. Durable before that session exists. */
  'agent.started': OfCall & { readonly optional: true; readonly session: string; readonly tool: string }
  /** The log of the agent has its end, so nobody needs to open it again. */
  'agent.ended': { readonly optional: true; readonly session: string }
  /** Rules that came with answers to the questions of an agent, whose log is no longer open. */
  'rules.added': { readonly optional: true; readonly session: string; readonly rules: PermissionLists }
  'turn.committed': {
    readonly reply: string
    readonly isPaused: boolean
    readonly isHookStopped?: boolean | undefined
    /** Background calls whose outcomes a call of this turn has told the model. */
    readonly read?: readonly string[] | undefined
    /** How many calls it counts in the usage. */
    readonly calls?: number | undefined
  }
  /** `kept`: the messages with which another model goes on. */
  'attempt.discarded': {
    readonly reply: string
    readonly kept?: readonly string[] | undefined
    readonly calls: readonly { readonly id: string; readonly started: boolean; readonly completed: boolean }[]
    readonly reports: readonly SystemMessage[]
    readonly usesFallback?: boolean | undefined
  }
  /** The call has its result, and its body goes on. `input`: as in `call.started`. */
  'background.started': OfCall & {
    readonly id: string
    readonly isAwaited: boolean
    readonly onEnd: 'stop' | 'leave'
    readonly input: unknown
    readonly decision?: Decision | undefined
  }
  /** The outcome as the messages of a call: the result first. */
  'background.finished': { readonly id: string; readonly messages: readonly Message[] } & TellsOutcomes
  /** `messages`: the outcome as it has become part of the conversation; none if another outcome tells it. */
  'background.delivered': { readonly id: string; readonly messages: readonly Message[] }
  'run.suspended': object
  'run.ended': CopiesNote & {
    readonly reason: string
    readonly stopReason?: string | undefined
    readonly abortReason?: unknown
    readonly error?: string | undefined
    readonly limit?: LimitReached | undefined
    readonly took: readonly string[]
    /** Messages that the end adds to the conversation. */
    readonly messages: readonly Message[]
  }
  /** What a request, the calls of a turn or an agent has used, at any depth of agents. */
  'usage.spent': { readonly optional: true; readonly spent: Spent }
  /** A note without an effect: its question was closed, or nothing was there to abort. */
  'note.taken': { readonly optional: true; readonly note: string }
}

export type RecordType = keyof Records

/** A record of a session as Signalbox itself writes it. */
export type SessionRecord = { [Type in RecordType]: { readonly t: Type } & Records[Type] }[RecordType]
