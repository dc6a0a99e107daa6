import type { SeenActor, SeenEvent } from 'signalbox/inspect'
import { type AnyInterpreter, toSCXMLEvent } from 'xstate'
import { machineOfChart } from './machine-of-chart.ts'

type Send = (event: unknown) => unknown

const nothing: Send = () => undefined

/** An adapter that shows an actor of Signalbox as an XState 4 interpreter, with the members `@xstate/inspect` uses. */
export class ActorService {
  readonly id: string
  readonly sessionId: string
  readonly parent: { readonly sessionId: string } | undefined
  readonly machine: { readonly definition: object; toJSON(): object }
  state: object
  #take: Send | undefined
  readonly #listeners = new Set<(state: object) => void>()
  readonly #onStop = new Set<() => void>()
  #announce: Send | undefined

  /** @param take called with events that a person sends in the inspector */
  constructor(actor: SeenActor, take: Send) {
    const { definition } = machineOfChart(actor.chart)
    this.id = actor.chart.id
    this.sessionId = actor.id
    this.parent = actor.parent === undefined ? undefined : { sessionId: actor.parent }
    this.machine = { definition, toJSON: () => definition }
    this.state = stateOf(actor)
    this.#take = take
  }

  get asInterpreter(): AnyInterpreter {
    return this as unknown as AnyInterpreter
  }

  /**
   * The inspector patches `send` to observe events, and calls it with a person's events. The two uses are separate, so
   * that each event is reported once: the patched function is only notified, and the original is a no-op.
   */
  get send(): Send {
    return (this.#announce && this.#take) ?? nothing
  }

  set send(patched: Send) {
    this.#announce = patched
  }

  subscribe(listener: (state: object) => void): { unsubscribe(): void } {
    this.#listeners.add(listener)
    return { unsubscribe: () => void this.#listeners.delete(listener) }
  }

  onStop(listener: () => void): this {
    this.#onStop.add(listener)
    return this
  }

  tell(event: SeenEvent): void {
    this.#announce?.(event)
  }

  move(actor: SeenActor, { isTold }: { isTold: boolean }): void {
    this.state = stateOf(actor)
    if (isTold) for (const listener of this.#listeners) listener(this.state)
  }

  /** The package keeps every service for ever, so only the name of this one remains. */
  stop(): void {
    for (const listener of this.#onStop) listener()
    this.#onStop.clear()
    this.#listeners.clear()
    this.state = {}
    this.#announce = undefined
    this.#take = undefined
  }
}

function stateOf({ chart, value, context, event, id }: SeenActor): object {
  const _event = toSCXMLEvent(event)
  return { ...machineOfChart(chart).state(value), context, event, _event, _sessionid: id, changed: true }
}
