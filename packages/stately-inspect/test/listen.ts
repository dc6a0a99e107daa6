import type { StatelyActorEvent, StatelyInspectionEvent } from '@statelyai/inspect'
import type { Subscribable } from 'xstate'

type Heard<Type extends StatelyInspectionEvent['type']> = Extract<StatelyInspectionEvent, { type: Type }>

export interface Listening {
  readonly heard: StatelyInspectionEvent[]
  of<Type extends StatelyInspectionEvent['type']>(type: Type): Heard<Type>[]
  /** Resolves as soon as the condition holds for the received events. */
  until(isThere: () => boolean): Promise<void>
  actor(name: string): StatelyActorEvent | undefined
  /** The newest snapshot of an actor. */
  snapshot(sessionId: string | undefined): { status?: string; value?: unknown; context?: unknown } | undefined
}

export function listenTo(receiver: Subscribable<StatelyInspectionEvent>): Listening {
  const heard: StatelyInspectionEvent[] = []
  const waiting = new Set<() => void>()
  receiver.subscribe((event) => {
    heard.push(event)
    for (const check of [...waiting]) check()
  })
  const of = <Type extends StatelyInspectionEvent['type']>(type: Type): Heard<Type>[] =>
    heard.filter((event): event is Heard<Type> => event.type === type)
  return {
    heard,
    of,
    until: (isThere) =>
      new Promise((resolve) => {
        const check = (): void => {
          if (!isThere()) return
          waiting.delete(check)
          resolve()
        }
        waiting.add(check)
        check()
      }),
    actor: (name) => of('@xstate.actor').find((event) => event.name === name),
    snapshot: (sessionId) =>
      heard.findLast((event) => event.sessionId === sessionId && 'snapshot' in event) !== undefined
        ? (heard.findLast((event) => event.sessionId === sessionId && 'snapshot' in event) as Heard<'@xstate.actor'>)
            .snapshot
        : undefined,
  }
}
