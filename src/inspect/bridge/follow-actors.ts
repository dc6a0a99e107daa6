import type { ChartDefinition } from '../frames/chart-definition.ts'
import { applyPatch } from '../frames/diff-value.ts'
import type { Encoded } from '../frames/encode-value.ts'
import type { Command, Frame, FrameOf } from '../frames/frame.ts'
import { type StateValue, stateValue } from '../frames/read-chart.ts'
import { foldFrame } from '../run-model/fold-frame.ts'
import type { CastListener, ModelListener } from '../run-model/run-listener.ts'
import {
  type CastState,
  emptyRunModel,
  type RunModel,
  type RunState,
  type ServerState,
} from '../run-model/run-state.ts'

/** An actor as third-party inspectors show it: plain JSON, after `redact` and the limits. */
export interface SeenActor {
  /** Unique across all runs. */
  readonly id: string
  readonly run: number
  /** The title of its run. */
  readonly title: string
  readonly chart: ChartDefinition
  readonly parent: string | undefined
  readonly value: StateValue
  readonly context: Encoded
  /** `stopped`: no longer watched; the actor may still run. */
  readonly status: 'active' | 'done' | 'stopped'
  /** The event that led to this state. */
  readonly event: SeenEvent
}

export interface SeenEvent {
  readonly type: string
  readonly [key: string]: Encoded
}

/** Gets the current state of each actor. Called in the middle of a step: record the data and return. */
export interface ActorListener {
  onActor(actor: SeenActor): void
  /** `from` is the sender's id; undefined if the host or a tool's body sent the event. */
  onEvent(actor: SeenActor, event: SeenEvent, from: string | undefined): void
  onState(actor: SeenActor): void
  /** The actor is done or no longer watched. */
  onEnd(actor: SeenActor): void
}

/** The actors behind a stream of frames, live or recorded. */
export class FollowedActors {
  readonly #listener: ActorListener
  readonly #model: RunModel = emptyRunModel()
  /** Actors that are not done, by id. */
  readonly #seen = new Map<string, SeenActor>()
  readonly #projection: ModelListener<RunState, ServerState>

  constructor(listener: ActorListener) {
    this.#listener = listener
    const cast: CastListener = {
      newActor: (state) => state,
      onActor: (_, frame, of) => this.#meet(of, frame),
      onStep: (_, frame) => this.#step(frame),
    }
    this.#projection = {
      newRun: (state) => state,
      newServer: (state) => state,
      run: { ...cast, newCall: (state) => state },
      server: cast,
    }
  }

  [Symbol.iterator](): IterableIterator<SeenActor> {
    return this.#seen.values()
  }

  /** The commands an actor accepts now: those of the executor, or the answer to a call's open question. */
  standing(
    id: string,
  ): { readonly actor: SeenActor; readonly can: readonly Command[]; readonly call?: string } | undefined {
    const actor = this.#seen.get(id)
    if (actor === undefined) return undefined
    const run = this.#model.runs.get(actor.run)
    const name = nameIn(actor)
    if (name === run?.root) return { actor, can: run.can }
    const call = run?.byActor.get(name)?.id
    if (call === undefined) return { actor, can: [] }
    return { actor, call, can: run?.questions.some((open) => open.call === call) === true ? ['answer'] : [] }
  }

  take(frame: Frame): void {
    if (frame.type === 'run' || frame.type === 'server' || frame.type === 'left') this.#leave(frame.run)
    foldFrame(this.#model, frame, this.#projection)
    if (frame.type !== 'event') return
    const actor = this.#seen.get(idOf(frame.run, frame.to))
    if (actor === undefined) return
    const event = eventOf(frame.event, frame.data)
    this.#seen.set(actor.id, { ...actor, event })
    this.#listener.onEvent(actor, event, frame.from === null ? undefined : idOf(frame.run, frame.from))
  }

  #meet(cast: CastState, { run, actor: name, chart: chartId, parent, active, context }: FrameOf<'actor'>): void {
    const chart = cast.charts.get(chartId)
    // it was done before anyone watched
    if (chart === undefined || isOver(chart, active)) return
    const actor: SeenActor = {
      id: idOf(run, name),
      run,
      title: this.#model.runs.get(run)?.title ?? this.#model.servers.get(run)?.name ?? '',
      chart,
      parent: parent === null ? undefined : idOf(run, parent),
      value: stateValue(chart, active),
      context,
      status: 'active',
      event: { type: 'xstate.init' },
    }
    this.#seen.set(actor.id, actor)
    this.#listener.onActor(actor)
  }

  #step({ run, actor: name, event, active, context, isDone }: FrameOf<'step'>): void {
    const before = this.#seen.get(idOf(run, name))
    if (before === undefined) return
    const actor: SeenActor = {
      ...before,
      ...(active !== undefined && { value: stateValue(before.chart, active) }),
      ...(context !== undefined && { context: applyPatch(before.context, context) }),
      event: before.event.type === event ? before.event : { type: event },
      status: isDone ? 'done' : 'active',
    }
    if (isDone) this.#seen.delete(actor.id)
    else this.#seen.set(actor.id, actor)
    this.#listener.onState(actor)
    if (isDone) this.#listener.onEnd(actor)
  }

  /** Frees a run that is no longer watched. */
  #leave(run: number): void {
    const cast = this.#model.runs.get(run) ?? this.#model.servers.get(run)
    this.#model.runs.delete(run)
    this.#model.servers.delete(run)
    for (const name of cast?.actors.keys() ?? []) {
      const actor = this.#seen.get(idOf(run, name))
      this.#seen.delete(idOf(run, name))
      if (actor !== undefined) this.#listener.onEnd({ ...actor, status: 'stopped' })
    }
  }
}

/** Actor names repeat across runs. */
const idOf = (run: number, name: string): string => `${run}/${name}`

const nameIn = ({ id, run }: SeenActor): string => id.slice(`${run}/`.length)

function isOver({ nodes }: ChartDefinition, active: readonly number[]): boolean {
  const root = nodes[0]?.id
  return nodes.some(({ id, kind, parent }) => kind === 'final' && parent === root && active.includes(id))
}

function eventOf(type: string, data: Encoded): SeenEvent {
  return { ...(isFields(data) ? data : { data }), type }
}

const isFields = (value: Encoded): value is { readonly [key: string]: Encoded } =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
