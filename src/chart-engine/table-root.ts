import { Actor, type ActorOptions, type AnyEventObject, type AnyMachineSnapshot, type AnyStateMachine } from 'xstate'
import { Fifo } from '../base/fifo.ts'
import { refuseToPersist } from './chart-engine.ts'
import { type ActorInternals, countInspectors, isInspected } from './xstate-internals.ts'

/** XState's `Actor` with the methods that its types hide. */
const OpenActor = Actor as unknown as new (logic: AnyStateMachine, options: unknown) => ActorInternals

/** In place of XState's list of deferred actions: an array that is emptied by each step is allocated again by the next. */
class Deferred extends Fifo<() => void> {
  override get length(): number {
    return super.length
  }

  /** XState sets 0 after an action has thrown. */
  override set length(_none: number) {
    this.clear()
  }
}

interface Given {
  readonly id?: string | undefined
  readonly input?: unknown
  readonly inspect?: unknown
  readonly snapshot?: unknown
}

/** The root actor of a system for a compiled chart. Without observers, no reports are created. */
class TableRoot extends OpenActor {
  /** Not an observer, because XState walks through a non-empty set of observers at every step. */
  onEnd: (() => void) | undefined

  constructor(logic: AnyStateMachine, given: Given) {
    // XState spreads its options, and with these two each actor would get hidden classes of its own
    const { id, input: _input, ...rest } = given
    // an inspector sees the actor before this constructor can change it
    super(logic, given.inspect === undefined ? rest : given)
    if (id !== undefined) this.id = id
    this.options = given
    super._initState(given.snapshot)
    const deferred = new Deferred()
    for (let run = this._deferred.shift(); run !== undefined; run = this._deferred.shift()) deferred.push(run)
    this._deferred = deferred
  }

  /** Called by XState's constructor, which knows no input. */
  override _initState(): void {}

  override update(snapshot: AnyMachineSnapshot, event: AnyEventObject): void {
    if (isInspected(this.system) || this.#isObserved() || snapshot.status !== 'active' || isFirst(event))
      return super.update(snapshot, event)
    this._snapshot = snapshot
    const deferred = this._deferred
    try {
      // one by one, because actions deferred meanwhile run too
      for (let run = deferred.shift(); run !== undefined; run = deferred.shift()) run()
    } catch (error) {
      deferred.length = 0
      this._snapshot = { ...snapshot, status: 'error', error } as AnyMachineSnapshot
      this._error(error)
    }
  }

  override _complete(): void {
    super._complete()
    this.onEnd?.()
  }

  getPersistedSnapshot(): never {
    return refuseToPersist()
  }

  /** An observer of the end alone needs no snapshots. */
  #isObserved(): boolean {
    if (this.observers.size > 0) for (const { next } of this.observers) if (next !== undefined) return true
    return false
  }
}

/** XState runs the actions that were deferred until the start. */
const isFirst = ({ type }: AnyEventObject): boolean => type === 'xstate.init'

/** Like `createActor`, and counts the inspectors of the system. */
export function createTableRoot<Machine extends AnyStateMachine>(
  logic: Machine,
  options: ActorOptions<Machine>,
  onEnd?: () => void,
): Actor<Machine> {
  const root = new TableRoot(logic, options)
  root.onEnd = onEnd
  countInspectors(root.system, options.inspect === undefined ? 0 : 1)
  return root as unknown as Actor<Machine>
}
