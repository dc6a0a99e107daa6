import type { ActorRefFrom } from 'xstate'
import type {
  BackgroundMachine,
  BackgroundPort,
  CallEvent,
  Ending,
  LockClaim,
  ResourceKeys,
  TimeoutCause,
} from '../../machines/index.ts'
import type { Message, ToolResultMessage } from '../messages/message.ts'
import type { DetachedAs } from '../pipeline/detaching.ts'
import type { ExecutorServices } from '../pipeline/executor-services.ts'
import { releaseLocks } from '../pipeline/locking.ts'
import { ToolCall } from '../pipeline/tool-call.ts'
import { OutputTail } from './output-tail.ts'

/** What the list of background calls does when the chart of a call asks for it. */
export interface DetachedHost {
  /** There is a log. */
  readonly isLogged: boolean
  stop(id: string, reason: unknown): boolean
  /** Takes its keys in the locks of the query or session. */
  holdKeys(call: DetachedCall, keys: ResourceKeys): void
  concluded(call: DetachedCall): void
  announced(call: DetachedCall): void
  recorded(call: DetachedCall): void
  letGo(call: DetachedCall): void
}

export type BackgroundStatus = 'running' | 'stopping' | 'finished' | 'failed' | 'stopped' | 'unknown'

/**
 * A call whose body goes on without its turn. It has taken over the body, its limits, its signal and its context from the
 * call that the model made; the functions of the phases serve it like any call.
 */
export class DetachedCall extends ToolCall implements BackgroundPort {
  override readonly background: DetachedAs
  /** The reports of its body, for readers that ask before it is over. */
  readonly output = new OutputTail()
  actor: ActorRefFrom<BackgroundMachine> | undefined
  /** The services of the executor that its body began in; undefined if it began in an earlier process. */
  readonly origin: ExecutorServices | undefined
  /** There is a log, and it does not have the outcome. */
  isUnrecorded: boolean
  /** The outcome that the log has, from an earlier process. */
  readonly #logged: readonly Message[] | undefined
  readonly #host: DetachedHost

  constructor(
    from: ToolCall,
    services: ExecutorServices,
    host: DetachedHost,
    background: DetachedAs,
    logged?: readonly Message[],
  ) {
    const { id, name, block, assistantMessage, tool, reading, isSafe, keysContext, yieldsToInterrupt, past } = from
    const known = { id, name, block, assistantMessage, tool, reading, isSafe, keysContext, yieldsToInterrupt, past }
    const { hasChecks, hasPermissionCheck, onlyReads } = from
    const rest = {
      hasChecks,
      hasPermissionCheck,
      onlyReads,
      repeats: undefined,
      answer: undefined,
      isHeld: false,
      keys: undefined,
    }
    super(services, { ...known, ...rest }, from.asyncContext)
    this.origin = from.body && from.executor
    this.#host = host
    this.#logged = logged
    this.isUnrecorded = host.isLogged && logged === undefined
    this.background = background
    this.keys = from.keys
    this.#takeOver(from)
  }

  override get isDetached(): boolean {
    return true
  }

  override get needsRecording(): boolean {
    return this.isUnrecorded
  }

  /** Its body ran in an earlier process. */
  override get needsRecovery(): boolean {
    return this.body === undefined
  }

  override get isRecovered(): boolean {
    return this.origin === undefined
  }

  override tell(event: CallEvent): void {
    if (this.actor === undefined) this.executor.push(() => this.tell(event))
    else if (this.actor.getSnapshot().status === 'active') this.executor.send(this.actor, event)
  }

  override stopItself(reason: unknown): void {
    this.#host.stop(this.background.id, reason)
  }

  override isIn(): boolean {
    return this.actor?.getSnapshot().matches({ running: 'recovering' }) === true
  }

  /** Its outcome can be delivered. */
  get isReady(): boolean {
    return this.actor?.getSnapshot().matches({ finished: 'ready' }) === true
  }

  /** Its body, or work on its outcome, is under way. */
  get isUnderWay(): boolean {
    const snapshot = this.actor?.getSnapshot()
    return snapshot === undefined || snapshot.matches('running') || snapshot.matches('stopping')
  }

  get status(): BackgroundStatus {
    if (this.isUnderWay) return this.actor?.getSnapshot().matches('stopping') === true ? 'stopping' : 'running'
    if (this.ending?.by === 'unknown') return 'unknown'
    if (this.ending?.by === 'abort') return 'stopped'
    return this.#result.is_error === true ? 'failed' : 'finished'
  }

  /** The messages of its outcome, as those of a call: the result first. */
  get messages(): readonly Message[] {
    return this.outgoing.prepare()
  }

  get #result(): ToolResultMessage['message']['content'][0] {
    return (this.messages[0] as ToolResultMessage).message.content[0]
  }

  override conclude(ending: Ending): void {
    this.ending = ending
    if (ending.by !== 'result') this.outgoing.drop()
    this.executor.push(() => {
      releaseLocks(this)
      this.#host.concluded(this)
    })
  }

  override recover(): void {
    const logged = this.#logged
    if (logged === undefined) return super.recover()
    this.executor.push(() => {
      this.outgoing.set([...logged])
      this.tell({ type: 'result.formatted', cancelsSiblings: false, description: '' })
    })
  }

  recordOutcome(): void {
    this.executor.push(() => this.#host.recorded(this))
  }

  announce(): void {
    this.executor.push(() => this.#host.announced(this))
  }

  letGo(): void {
    this.executor.push(() => {
      this.startedTimer?.clear()
      releaseLocks(this)
      this.#host.letGo(this)
    })
  }

  readonly #timedOut = (cause: TimeoutCause): void => this.tell({ type: 'call.timedOut', cause })

  #takeOver(from: ToolCall): void {
    this.rawInput = from.rawInput
    this.isChecked = from.isChecked
    this.attempts = from.attempts
    this.bodyMs = from.bodyMs
    this.startedTimer = from.startedTimer
    this.startedController = from.startedController
    this.ownContext = from.ownContext
    this.contextBase = from.contextBase
    this.body = from.body
    this.stage = 'executing'
    this.startedTimer?.endDetach()
    if (this.startedTimer !== undefined) this.startedTimer.onTimeout = this.#timedOut
    this.body?.moveTo(this)
    const { keys } = from
    if (keys === undefined || from.tool?.isAgent === true) return
    // the keys that it named stay taken; everything is too much to keep for long
    const named = { reads: keys.reads.filter(isNamed), writes: keys.writes.filter(isNamed) }
    if (named.reads.length + named.writes.length === 0) return
    this.lock = from.lock
    from.lock = undefined
    if (this.lock === undefined) this.#host.holdKeys(this, named)
    else this.#narrow(this.lock, named)
  }

  #narrow(lock: LockClaim, keys: ResourceKeys): void {
    if (lock.keys.reads.length + lock.keys.writes.length === keys.reads.length + keys.writes.length) return
    // whoever gets a key goes on, and that is not part of this step
    this.executor.push(() => this.executor.locks?.book.narrow(lock, keys))
  }
}

const isNamed = (key: string): boolean => key !== '*'

/** A turn that is over takes no changes of its context. */
export function warnAboutModifier(call: DetachedCall): void {
  const { bodyResult, executor } = call
  if (bodyResult?.ok !== true || bodyResult.result.contextModifier === undefined) return
  executor.warn(call, 'context_modifier_dropped', 'it went to the background, so its context modifier was dropped')
}
