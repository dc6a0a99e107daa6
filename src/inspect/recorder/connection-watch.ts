import type { AnyActorRef, AnyTransitionDefinition } from 'xstate'
import type { FrameBody } from '../frames/frame.ts'
import type { Show } from '../frames/redact.ts'
import { ActorFrames } from './actor-frames.ts'
import { asText, standIn } from './call-frames.ts'
import type { WatchOptions } from './run-watch.ts'
import { actorNames, type Sighting, sightingOf } from './xstate-view.ts'

/** A connection to a server that calls depend on, such as those of `connectMcp`. */
export interface Connection {
  /** The server's name. */
  readonly name: string
  readonly actor: AnyActorRef
  /** The ids of the calls that wait until the server is connected. */
  waiting(): Iterable<string>
  /** Called when a call begins or stops waiting. Returns a function that unsubscribes. */
  onWaiting(listener: (call: string, isWaiting: boolean) => void): () => void
}

export const isConnection = (shown: object): shown is Connection => 'onWaiting' in shown

/** Watches one connection: its chart and the calls that wait for it, as frames. */
export class ConnectionWatch {
  readonly #connection: Connection
  readonly #write: (body: FrameBody) => void
  readonly #show: Show
  readonly #actors: ActorFrames
  readonly #leave: (() => void)[] = []

  constructor(
    connection: Connection,
    write: (body: FrameBody) => void,
    { redaction, limits = {}, actorId }: Pick<WatchOptions, 'redaction' | 'limits' | 'actorId'>,
  ) {
    this.#connection = connection
    this.#write = write
    const nameOf = actorNames(connection.actor.system, actorId)
    const show = redaction.show(limits, standIn(nameOf))
    const showOfServer: Show = (value, where) => show(value, { ...where, server: connection.name })
    this.#show = showOfServer
    this.#actors = new ActorFrames(showOfServer, nameOf)
  }

  attach(): void {
    for (const body of this.picture()) this.#write(body)
    const { actor } = this.#connection
    const inspection = actor.system.inspect((event) => this.#safely(() => this.#see(sightingOf(event))))
    this.#leave.push(
      () => inspection.unsubscribe(),
      this.#connection.onWaiting((call, isWaiting) => this.#write({ type: 'waiting', call, isWaiting })),
    )
  }

  detach(): void {
    for (const leave of this.#leave.splice(0)) leave()
    this.#write({ type: 'left' })
  }

  /** The current state as frames, for a new reader. */
  picture(): FrameBody[] {
    const { name, actor } = this.#connection
    this.#actors.clear()
    return [
      { type: 'server', name: asText(this.#show(name, { what: 'label' })), root: this.#actors.idOf(actor) },
      ...this.#actors.found(actor),
      ...Array.from(this.#connection.waiting(), (call) => ({ type: 'waiting', call, isWaiting: true }) as const),
    ]
  }

  #see(sighting: Sighting | undefined): void {
    if (sighting === undefined || sighting.actor !== this.#connection.actor) return
    if (sighting.kind === 'event') {
      const { type, ...rest } = sighting.event
      const data = Object.keys(rest).length === 0 ? {} : this.#show(rest, { what: 'event' })
      this.#write({ type: 'event', from: null, to: this.#actors.idOf(sighting.actor), event: type, data })
    } else if (sighting.kind === 'step') {
      const { actor, event, snapshot, transitions } = sighting
      this.#tellGuards(actor, event, transitions)
      const step = this.#actors.step(actor, event, snapshot, transitions)
      if (step !== undefined) this.#write(step)
    }
  }

  /** XState's own interpreter does not expose guard results; they follow from the transitions taken. */
  #tellGuards(
    actor: AnyActorRef,
    event: Extract<Sighting, { kind: 'step' }>['event'],
    taken: readonly AnyTransitionDefinition[],
  ): void {
    const regions = taken.map((each) => each.source.transitions.get(each.eventType) ?? [])
    const guards = this.#actors.guards(actor, event, regions, taken)
    if (guards !== undefined) this.#write(guards)
  }

  /** An observer that throws would put the actor into its error state. */
  #safely(look: () => void): void {
    try {
      look()
    } catch {
      this.#write({ type: 'gap', because: 'recorder', lost: 1 })
    }
  }
}
