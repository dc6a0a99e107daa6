import { Actor, type ActorOptions, type AnyEventObject, type AnyMachineSnapshot, type AnyStateMachine } from 'xstate'
import { type ActorInternals, countInspectors, isInspected } from './xstate-internals.ts'

/** XState's actor, whose methods its types keep to themselves. */
const OpenActor = Actor as unknown as new (logic: AnyStateMachine, options: unknown) => ActorInternals

/** At the root of a system, for a compiled chart. As long as nobody looks on, what would be told is not even made. */
class TableRoot extends OpenActor {
  override update(snapshot: AnyMachineSnapshot, event: AnyEventObject): void {
    if (isInspected(this.system) || this.#isObserved() || snapshot.status !== 'active' || isFirst(event))
      return super.update(snapshot, event)
    this._snapshot = snapshot
    const deferred = this._deferred
    try {
      // one by one: what is deferred on the way is run too, and a list that is cut would be given new room
      for (let run = deferred.shift(); run !== undefined; run = deferred.shift()) run()
    } catch (error) {
      deferred.length = 0
      this._snapshot = { ...snapshot, status: 'error', error } as AnyMachineSnapshot
      this._error(error)
    }
  }

  /** An observer of the end alone needs no snapshots. */
  #isObserved(): boolean {
    if (this.observers.size > 0) for (const { next } of this.observers) if (next !== undefined) return true
    return false
  }
}

/** The first snapshot goes to nobody but to the actions that waited for the start: XState runs them. */
const isFirst = ({ type }: AnyEventObject): boolean => type === 'xstate.init'

/** Like `createActor`, and from then on it is known whether anybody inspects the system. */
export function createTableRoot<Machine extends AnyStateMachine>(
  logic: Machine,
  options: ActorOptions<Machine>,
): Actor<Machine> {
  const root = new TableRoot(logic, options) as unknown as Actor<Machine>
  countInspectors(root.system, options.inspect === undefined ? 0 : 1)
  return root
}
