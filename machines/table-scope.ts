import type { AnyActorRef } from 'xstate'
import type { TableActor } from './table-actor.ts'
import { internalsOf, status } from './xstate-internals.ts'

interface Executable {
  readonly type: string
  readonly info: unknown
  readonly params: unknown
  readonly exec: ((info: unknown, params: unknown) => void) | undefined
}

/** What the logic of a table's actor may ask of it; XState gives each actor such a thing, made of closures. */
export class TableScope {
  readonly self: TableActor
  readonly system: AnyActorRef['system']

  constructor(self: TableActor) {
    this.self = self
    this.system = self.system
  }

  get id(): string {
    return this.self.id
  }

  get sessionId(): string {
    return this.self.sessionId
  }

  get logger(): unknown {
    return this.self.logger
  }

  defer(deferred: () => void): void {
    this.self.defer(deferred)
  }

  actionExecutor({ type, info, params, exec }: Executable): void {
    const { self } = this
    const run = () => {
      internalsOf(this.system)._sendInspectionEvent({
        type: '@xstate.action',
        actorRef: self.ref,
        action: { type, params },
      })
      exec?.(info, params)
    }
    if (self._processingStatus === status.running) run()
    else self.defer(run)
  }
}
