import { Actor, type ActorOptions, type AnyEventObject, type AnyMachineSnapshot, type AnyStateMachine } from 'xstate'
import { type ActorInternals, countInspectors, isInspected } from './xstate-internals.ts'

/** XState's actor, whose methods its types keep to themselves. */
const OpenActor = Actor as unknown as new (logic: AnyStateMachine, options: unknown) => ActorInternals

/** At the root of a system, for a compiled chart. As long as nobody looks on, what would be told is not even made. */
class TableRoot extends OpenActor {
  override update(snapshot: AnyMachineSnapshot, event: AnyEventObject): void {
    if (isInspected(this.system) || this.observers.size > 0 || snapshot.status !== 'active' || isFirst(event))
      return super.update(snapshot, event)
    this._snapshot = snapshot
    const deferred = this._deferred
    // no copy: what is deferred on the way is run too
    for (const run of deferred) run()
    deferred.length = 0
  }
}

/** Only what is deferred until the start can throw. */
const isFirst = ({ type }: AnyEventObject): boolean => type === 'xstate.init'

/** Like `createActor`, and from then on it is known whether anybody inspects the system. */
export function createTableRoot<Machine extends AnyStateMachine>(
  logic: Machine,
  options: ActorOptions<Machine>,
): Actor<Machine> {
  const root = new TableRoot(logic, options) as unknown as Actor<Machine>
  countInspectors(root.system)
  return root
}
