import {
  Actor,
  type AnyActorRef,
  type AnyActorScope,
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
} from 'xstate'
import { refuseToPersist } from './chart-engine.ts'
import { type ActorInternals, internalsOf, isInspected, type Observers, relayTo, status } from './xstate-internals.ts'

/** XState's `Actor` without its constructor, which costs more than all the steps of a call. */
const BareActor = function BareActor() {} as unknown as new () => ActorInternals
BareActor.prototype = Actor.prototype

/** For actors that nobody inspects. */
const init = { type: 'xstate.init' }

interface Executable {
  readonly type: string
  readonly info: unknown
  readonly params: unknown
  readonly exec: ((info: unknown, params: unknown) => void) | undefined
}

/**
 * An XState actor for a compiled chart, made for many short-lived actors: an `Actor` of the same system with the same
 * inspection events that allocates only what it needs. It is also its own scope. Two things are left out: the event
 * `xstate.done.actor`, because such a chart reports its end itself, and the entry in the system's list of actors, which
 * nothing reads.
 */
export class TableActor extends BareActor {
  readonly logic: AnyStateMachine
  override readonly id: string
  override readonly system: AnyActorRef['system']
  readonly input: unknown
  readonly _parent: AnyActorRef
  _processingStatus: number = status.notStarted
  override _snapshot: AnyMachineSnapshot
  #sessionId: string | undefined
  #deferred: (() => void)[] | undefined
  #observers: Observers | undefined
  #listeners: Map<string, Set<unknown>> | undefined
  #mail: AnyEventObject[] | undefined
  #isBusy = true

  constructor(logic: AnyStateMachine, parent: AnyActorRef, id: string, input: unknown) {
    super()
    this.logic = logic
    this.id = id
    this.system = parent.system
    this.input = input
    this._parent = parent
    if (isInspected(this.system))
      internalsOf(this.system)._sendInspectionEvent({ type: '@xstate.actor', actorRef: this.ref })
    this._snapshot = logic.getInitialSnapshot(this._actorScope, input as never)
  }

  get ref(): AnyActorRef {
    return this as unknown as AnyActorRef
  }

  get self(): AnyActorRef {
    return this.ref
  }

  get _actorScope(): AnyActorScope {
    return this as unknown as AnyActorScope
  }

  get sessionId(): string {
    this.#sessionId ??= internalsOf(this.system)._bookId()
    return this.#sessionId
  }

  get src(): AnyStateMachine {
    return this.logic
  }

  override get options(): { input: unknown } {
    return { input: this.input }
  }

  get clock(): unknown {
    return internalsOf(this.system)._clock
  }

  get logger(): unknown {
    return internalsOf(this.system)._logger
  }

  override get observers(): Observers {
    this.#observers ??= new Set()
    return this.#observers
  }

  get eventListeners(): Map<string, Set<unknown>> {
    this.#listeners ??= new Map()
    return this.#listeners
  }

  /** Bound, because it must also work when it is detached from its actor. */
  get send(): (event: AnyEventObject) => void {
    return (event) => relayTo(undefined, this.ref, event)
  }

  start(): this {
    if (this._processingStatus !== status.notStarted) return this
    this._processingStatus = status.running
    let event: AnyEventObject = init
    if (isInspected(this.system)) {
      const { _parent: sourceRef, ref: actorRef } = this
      event = { type: 'xstate.init', input: this.input }
      internalsOf(this.system)._sendInspectionEvent({ type: '@xstate.event', sourceRef, actorRef, event })
    }
    if (this._snapshot.status === 'error') this._error(this._snapshot.error)
    else {
      if (this._snapshot.status === 'active' && hasAny(this._snapshot.children)) this.logic.start(this._snapshot)
      this.update(this._snapshot, event)
    }
    this.#workOffMail()
    return this
  }

  /** One event at a time: an event that arrives during a step waits until the step ends. */
  override _send(event: AnyEventObject): void {
    if (this._processingStatus === status.stopped) return
    if (this.#isBusy) {
      this.#mail ??= []
      this.#mail.push(event)
      return
    }
    this.#isBusy = true
    this._process(event)
    this.#workOffMail()
  }

  override update(snapshot: AnyMachineSnapshot, event: AnyEventObject): void {
    this._snapshot = snapshot
    if (this.#deferred !== undefined) this.#runDeferred(this.#deferred)
    if (this._snapshot.status === 'error') this._error(this._snapshot.error)
    else {
      if (this.#observers !== undefined) this.#tellObservers(this.#observers)
      if (snapshot.status === 'done') this.#end()
    }
    if (isInspected(this.system))
      internalsOf(this.system)._sendInspectionEvent({ type: '@xstate.snapshot', actorRef: this.ref, event, snapshot })
  }

  defer(deferred: () => void): void {
    // an array literal with one item allocates less than an empty array with a push
    if (this.#deferred === undefined) this.#deferred = [deferred]
    else this.#deferred.push(deferred)
  }

  actionExecutor({ type, info, params, exec }: Executable): void {
    const run = () => {
      internalsOf(this.system)._sendInspectionEvent({
        type: '@xstate.action',
        actorRef: this.ref,
        action: { type, params },
      })
      exec?.(info, params)
    }
    if (this._processingStatus === status.running) run()
    else this.defer(run)
  }

  getPersistedSnapshot(): never {
    return refuseToPersist()
  }

  emit(event: AnyEventObject): void {
    const heard = [event.type, '*'].flatMap((type) => [...(this.#listeners?.get(type) ?? [])])
    for (const listener of heard as ((event: unknown) => void)[]) attempt(() => listener(event))
  }

  stopChild(child: AnyActorRef): void {
    if (child._parent !== this.ref)
      throw new Error(`Cannot stop child actor ${child.id} of ${this.id} because it is not a child`)
    ;(child as unknown as { _stop(): void })._stop()
  }

  /** A complete scope for steps that XState takes itself. */
  get wholeScope(): AnyActorScope {
    const { self, id, sessionId, logger, system } = this
    return {
      self,
      id,
      sessionId,
      logger,
      system,
      defer: (run: () => void) => this.defer(run),
      emit: (event: AnyEventObject) => this.emit(event),
      stopChild: (child: AnyActorRef) => this.stopChild(child),
      actionExecutor: (action: Executable) => this.actionExecutor(action),
    } as unknown as AnyActorScope
  }

  _stop(): this {
    if (this._processingStatus === status.stopped) return this
    this.#mail = undefined
    if (this._processingStatus === status.notStarted) this._processingStatus = status.stopped
    else this._send({ type: 'xstate.stop' })
    return this
  }

  override _stopProcedure(): this {
    if (this._processingStatus !== status.running) return this
    internalsOf(this.system).scheduler.cancelAll(this.ref)
    this.#mail = undefined
    this._processingStatus = status.stopped
    return this
  }

  /** A deferred action can throw only before the start; then the actor is in error, as in XState. */
  #runDeferred(deferred: (() => void)[]): void {
    try {
      // not a copy, so that actions deferred meanwhile run too
      for (const run of deferred) run()
    } catch (error) {
      this._snapshot = { ...this._snapshot, status: 'error', error } as AnyMachineSnapshot
    }
    this.#deferred = undefined
  }

  #tellObservers(observers: Observers): void {
    for (const observer of observers) attempt(() => observer.next?.(this._snapshot))
  }

  #end(): void {
    this._stopProcedure()
    if (this.#observers !== undefined || this.#listeners !== undefined) this._complete()
  }

  #workOffMail(): void {
    for (let event = this.#mail?.shift(); event !== undefined; event = this.#mail?.shift()) this._process(event)
    this.#isBusy = false
  }
}

/** Without allocating a list of keys, because there is almost never one. */
function hasAny(children: object): boolean {
  for (const _ in children) return true
  return false
}

/** An observer that throws must not stop the actor; the error is rethrown asynchronously, as in XState. */
function attempt(look: () => void): void {
  try {
    look()
  } catch (error) {
    setTimeout(() => {
      throw error
    })
  }
}
