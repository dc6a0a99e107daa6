import type { AnyActorRef } from 'xstate'
import type {
  CallEvent,
  CallPort,
  CallRecord,
  CallStage,
  Decision,
  Detachment,
  Ending,
  Reached,
} from '../../../machines/index.ts'
import type { CallPast } from '../../journal/open-turn.ts'
import type { RecordedEnding } from '../../journal/records.ts'
import type { Message, ToolUseBlock } from '../../messages/message.ts'

/** The records that one life of a session has of a call, beside those of earlier lives. */
export interface CallFuture {
  isAsked: boolean
  isStarted: boolean
  ending: RecordedEnding | undefined
  isCompleted: boolean
}

/** A call whose chart goes where the log says. The log has no validation, no hooks and no times in the queue. */
export class LoggedCall implements CallRecord, CallPort {
  readonly id: string
  readonly name: string
  readonly block: ToolUseBlock
  readonly past: CallPast
  readonly future: CallFuture
  readonly yieldsToInterrupt = false
  readonly mayBeForbidden = false
  readonly hasPlace = true
  readonly canDetach = true
  readonly needsValidation = false
  readonly needsPreHooks = false
  readonly needsLocking = false
  readonly needsPostHooks = false
  readonly isRecorded: boolean
  readonly isAnswered: boolean
  readonly needsRecovery: boolean
  readonly needsAsking: boolean
  readonly needsDeciding: boolean
  /** The log has only inputs that are final. */
  readonly mustQueueAgain = (): boolean => false
  isSafe: boolean
  keys: CallRecord['keys']
  index = -1
  stage: CallStage = 'queued'
  hasStarted = false
  ref: AnyActorRef | undefined
  /** Shown as what decided. */
  decision: Decision | undefined
  messages: readonly Message[]
  isDurable: boolean
  unread = 1
  /** How many messages a reader has taken. */
  taken = 0

  constructor(block: ToolUseBlock, past: CallPast, future: CallFuture, isSafe: boolean) {
    const { asked, answer, started, completed } = past
    this.id = String(block.id)
    this.name = String(block.name)
    this.block = block
    this.past = past
    this.future = future
    this.isSafe = isSafe
    this.isRecorded = completed !== undefined
    this.isAnswered = this.isRecorded || future.ending?.by === 'answer'
    this.needsRecovery = started !== undefined
    this.needsAsking = asked !== undefined && answer === undefined
    const isDecided = this.needsAsking || answer?.behavior === 'allow'
    const isDecidedHere = future.isAsked || future.isStarted || !future.isCompleted || isNotRun(future.ending)
    this.needsDeciding = !isDecided && isDecidedHere
    this.isDurable = this.isRecorded
    this.messages = []
    this.keep(completed ?? [])
    this.decision = started?.decision
  }

  get port(): CallPort {
    return this
  }

  get hasBegun(): boolean {
    return this.needsRecovery || this.future.isStarted
  }

  get needsJournaling(): boolean {
    return this.future.isStarted || !this.future.isCompleted
  }

  get needsRecording(): boolean {
    return !this.isDurable
  }

  /** The names of its active states, from the outside to the inside. */
  get path(): string[] {
    const names: string[] = []
    let value: unknown = this.ref?.getSnapshot().value
    while (typeof value === 'object' && value !== null) {
      const [entry] = Object.entries(value)
      if (entry === undefined) break
      names.push(entry[0])
      value = entry[1]
    }
    return typeof value === 'string' ? [...names, value] : names
  }

  /** Messages for a reader, as the log has them. */
  keep(messages: readonly Message[]): void {
    this.messages = messages.filter(({ type }) => type !== 'progress')
    this.unread = Math.max(1, this.messages.length)
  }

  /** The next event on the way to the ending that the log has; undefined when it is there. */
  nextTo(ending: RecordedEnding): CallEvent | undefined {
    const path = this.path
    const state = path[0] !== 'executing' ? path[0] : path[1] === 'calling' ? path[1] : path.at(-1)
    return nextEvents[state ?? '']?.(ending)
  }

  recover(): void {}
  takeLocks(): void {}
  journalStart(): void {}
  recordResult(): void {}
  validate(): void {}
  runPreHooks(): void {}
  decide(): void {}
  askHost(): void {}
  awaitAnswer(): void {}
  callTool(): void {}
  startBackoff(): void {}
  runPostHooks(): void {}
  formatResult(): void {}
  hurry(): void {}
  stop(): void {}
  startGrace(): void {}
  detach(_how: Detachment): void {}
  abandon(): void {}
  conclude(_ending: Ending): void {}
}

const isNotRun = (ending: RecordedEnding | undefined): boolean =>
  ending?.by === 'result' && ending.reached === 'notStarted'

const own = { cancelsSiblings: false, description: '' } as const
const unknown: CallEvent = { type: 'outcome.unknown', ...own }
const detach: CallEvent = { type: 'call.detach', how: { isAwaited: false, onEnd: 'stop' } }

/** The log has the kind of an abort, not its reason. */
function abort({ kind }: RecordedEnding): CallEvent {
  const known = kind === undefined || kind === 'timeout' ? 'user_interrupted' : kind
  return { type: 'call.abort', cause: { kind: known, reason: known } }
}

const settled = (reached: Reached | undefined): CallEvent => {
  if (reached === 'abandoned') return { type: 'call.graceEnded' }
  const end = reached === undefined || reached === 'underWay' ? 'failed' : reached
  return { type: 'tool.settled', end, willRetry: false, needsFormatting: false }
}

const permission = (ending: RecordedEnding): CallEvent =>
  ending.by === 'abort'
    ? abort(ending)
    : isNotRun(ending)
      ? { type: 'permission.denied', stopsTurn: false }
      : { type: 'permission.allowed', change: undefined }

const nextEvents: { readonly [state: string]: (ending: RecordedEnding) => CallEvent | undefined } = {
  queued: (ending) => (ending.by === 'abort' ? abort(ending) : { type: 'call.start' }),
  recovering: (ending) =>
    ending.by === 'unknown' || ending.by === 'abort'
      ? unknown
      : isNotRun(ending)
        ? settled('returned')
        : { type: 'call.recovered' },
  deciding: permission,
  asking: permission,
  later: permission,
  journaling: (ending) =>
    ending.by === 'abort' ? abort(ending) : { type: isNotRun(ending) ? 'start.failed' : 'start.journaled' },
  calling: (ending) =>
    ending.by === 'abort'
      ? abort(ending)
      : ending.by === 'unknown'
        ? unknown
        : ending.by === 'background'
          ? detach
          : settled('returned'),
  stopping: ({ reached }) => settled(reached),
  postHooks: () => ({ type: 'postHooks.finished' }),
  formatting: () => ({ type: 'result.formatted', ...own }),
}
