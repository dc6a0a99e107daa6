import {
  Actor,
  type AnyActorRef,
  type AnyActorScope,
  type AnyEventObject,
  type AnyMachineSnapshot,
  type AnyStateMachine,
} from 'xstate'
import { TableScope } from './table-scope.ts'
import { type ActorInternals, internalsOf, type Observers, status } from './xstate-internals.ts'

/** XState's actor without its constructor, which costs more than all the steps of a call. */
const BareActor = function BareActor() {} as unknown as new () => ActorInternals
BareActor.prototype = Actor.prototype

/**
 * An XState actor for a compiled chart, one of many that live shortly: an `Actor` of the same system, with the same
 * inspection events, that makes what it needs when it needs it. Only `xstate.done.actor` is left out: such a chart
 * reports its end itself.
 */
export class TableActor extends BareActor {
  readonly logic: AnyStateMachine
  readonly id: string
  readonly sessionId: string
  readonly system: AnyActorRef['system']
  readonly options: { readonly input: unknown }
  readonly _parent: AnyActorRef
  readonly _actorScope: AnyActorScope
  readonly _deferred: (() => void)[] = []
  _processingStatus: number = status.notStarted
  _snapshot: AnyMachineSnapshot
  #observers: Observers | undefined
  #listeners: Map<string, Set<unknown>> | undefined
  #mail: AnyEventObject[] | undefined
  #isBusy = true

  constructor(logic: AnyStateMachine, parent: AnyActorRef, id: string, input: unknown) {
    super()
    this.logic = logic
    this.id = id
    this.system = parent.system
    this.sessionId = internalsOf(parent)._bookId()
    this.options = { input }
    this._parent = parent
    this._actorScope = new TableScope(this) as unknown as AnyActorScope
    internalsOf(this)._sendInspectionEvent({ type: '@xstate.actor', actorRef: this.ref })
    this._snapshot = logic.getInitialSnapshot(this._actorScope, input as never)
  }

  get ref(): AnyActorRef {
    return this as unknown as AnyActorRef
  }

  get src(): AnyStateMachine {
    return this.logic
  }

  get clock(): unknown {
    return internalsOf(this)._clock
  }

  get logger(): unknown {
    return internalsOf(this)._logger
  }

  get observers(): Observers {
    this.#observers ??= new Set()
    return this.#observers
  }

  get eventListeners(): Map<string, Set<unknown>> {
    this.#listeners ??= new Map()
    return this.#listeners
  }

  /** A field, because it has to work when it is taken off its actor. */
  readonly send = (event: AnyEventObject): void => internalsOf(this)._relay(undefined, this.ref, event)

  start(): this {
    if (this._processingStatus !== status.notStarted) return this
    const internals = internalsOf(this)
    internals._register(this.sessionId, this.ref)
    this._processingStatus = status.running
    const event = { type: 'xstate.init', input: this.options.input }
    internals._sendInspectionEvent({ type: '@xstate.event', sourceRef: this._parent, actorRef: this.ref, event })
    this.update(this._snapshot, event)
    this.#isBusy = false
    this.#workOffMail()
    return this
  }

  /** One event at a time: what comes in the middle of a step waits for its end. */
  _send(event: AnyEventObject): void {
    if (this._processingStatus === status.stopped) return
    if (this.#isBusy) {
      this.#mail ??= []
      this.#mail.push(event)
      return
    }
    this.#isBusy = true
    this._process(event)
    this.#isBusy = false
    this.#workOffMail()
  }

  update(snapshot: AnyMachineSnapshot, event: AnyEventObject): void {
    this._snapshot = snapshot
    if (this._deferred.length > 0) this.#runDeferred()
    if (this._snapshot.status === 'error') this._error(this._snapshot.error)
    else {
      if (this.#observers !== undefined) this.#tellObservers(this.#observers)
      if (snapshot.status === 'done') this.#end()
    }
    internalsOf(this)._sendInspectionEvent({ type: '@xstate.snapshot', actorRef: this.ref, event, snapshot })
  }

  _stop(): this {
    this.#mail = undefined
    if (this._processingStatus === status.notStarted) this._processingStatus = status.stopped
    this._send({ type: 'xstate.stop' })
    return this
  }

  _stopProcedure(): this {
    if (this._processingStatus !== status.running) return this
    this.#mail = undefined
    this._processingStatus = status.stopped
    internalsOf(this)._unregister(this.ref)
    return this
  }

  /** A deferred action may throw only before the start; then the actor is in error, as XState's is. */
  #runDeferred(): void {
    try {
      for (let next = 0; next < this._deferred.length; next++) this._deferred[next]?.()
    } catch (error) {
      this._snapshot = { ...this._snapshot, status: 'error', error } as AnyMachineSnapshot
    }
    this._deferred.length = 0
  }

  #tellObservers(observers: Observers): void {
    for (const observer of observers) {
      try {
        observer.next?.(this._snapshot)
      } catch (error) {
        queueMicrotask(() => {
          throw error
        })
      }
    }
  }

  #end(): void {
    this._stopProcedure()
    if (this.#observers !== undefined || this.#listeners !== undefined) this._complete()
  }

  #workOffMail(): void {
    for (let event = this.#mail?.shift(); event !== undefined; event = this.#mail?.shift()) this._send(event)
  }
}
