import type { SeenActor, SeenEvent } from 'signalbox/inspect'
import { type AnyInterpreter, toSCXMLEvent } from 'xstate'
import { machineOfChart } from './machine-of-chart.ts'

type Send = (event: unknown) => unknown

const nothing: Send = () => undefined

/** The face of an interpreter of XState 4: as much of it as `@xstate/inspect` looks at, and an actor of Signalbox behind it. */
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

  /** @param take gets what a person sends to it in the inspector. */
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
   * The inspector patches `send` to learn of events, and calls it for what a person sends. Apart, so that what the
   * executor does is told once: the patch is only told, and what it wraps does nothing.
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

  /** The package keeps every service it ever saw: what is left of this one is a name. */
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
