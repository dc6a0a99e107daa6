import type { ChartDefinition } from './chart-definition.ts'
import { applyPatch } from './diff-value.ts'
import type { Encoded } from './encode-value.ts'
import type { ActorFrame, Command, Frame, StepFrame } from './frame.ts'
import { type StateValue, stateValue } from './state-value.ts'

/** An actor as an inspector of actors shows it. Everything in it has passed `redact` and the limits, and is plain JSON. */
export interface SeenActor {
  /** Another for each actor of each run. */
  readonly id: string
  readonly run: number
  /** What its run is called. */
  readonly title: string
  readonly chart: ChartDefinition
  readonly parent: string | undefined
  readonly value: StateValue
  readonly context: Encoded
  /** `stopped`: nobody looks any more; it may go on unseen. */
  readonly status: 'active' | 'done' | 'stopped'
  /** What brought it here. */
  readonly event: SeenEvent
}

export interface SeenEvent {
  readonly type: string
  readonly [key: string]: Encoded
}

/** It gets each actor as it is at that moment. All of it is called in the middle of a step: take note, and return. */
export interface ActorListener {
  onActor(actor: SeenActor): void
  /** `from` is the id of the sender; undefined where that is the host or a tool's body. */
  onEvent(actor: SeenActor, event: SeenEvent, from: string | undefined): void
  onState(actor: SeenActor): void
  /** It is done, or left. */
  onEnd(actor: SeenActor): void
}

interface Run {
  readonly title: string
  readonly root: string
  readonly charts: Map<string, ChartDefinition>
  readonly actors: Map<string, SeenActor>
  readonly callOf: Map<string, string>
  can: readonly Command[]
  questions: readonly string[]
}

/** The actors behind a stream of frames, live or recorded. */
export class FollowedActors {
  readonly #listener: ActorListener
  readonly #runs = new Map<number, Run>()

  constructor(listener: ActorListener) {
    this.#listener = listener
  }

  /** Those that are not over. */
  *[Symbol.iterator](): Generator<SeenActor, void, undefined> {
    for (const { actors } of this.#runs.values()) yield* actors.values()
  }

  /** What can be asked of an actor now: commands of the executor, or the answer to an open question of a call. */
  standing(
    id: string,
  ): { readonly actor: SeenActor; readonly can: readonly Command[]; readonly call?: string } | undefined {
    const actor = [...this].find((each) => each.id === id)
    const run = actor && this.#runs.get(actor.run)
    if (actor === undefined || run === undefined) return undefined
    const name = nameIn(actor)
    if (name === run.root) return { actor, can: run.can }
    const call = run.callOf.get(name)
    if (call === undefined) return { actor, can: [] }
    return { actor, call, can: run.questions.includes(call) ? ['answer'] : [] }
  }

  take(frame: Frame): void {
    if (frame.type === 'run' || frame.type === 'server') {
      this.#leave(frame.run)
      const { root } = frame
      const title = frame.type === 'run' ? frame.title : frame.name
      const empty = { charts: new Map(), actors: new Map(), callOf: new Map(), can: [], questions: [] }
      this.#runs.set(frame.run, { title, root, ...empty })
      return
    }
    const run = this.#runs.get(frame.run)
    if (run === undefined) return
    if (frame.type === 'chart') run.charts.set(frame.chart.id, frame.chart)
    else if (frame.type === 'actor') this.#meet(run, frame)
    else if (frame.type === 'event') {
      const actor = run.actors.get(frame.to)
      if (actor === undefined) return
      const event = eventOf(frame.event, frame.data)
      run.actors.set(frame.to, { ...actor, event })
      this.#listener.onEvent(actor, event, frame.from === null ? undefined : idOf(frame.run, frame.from))
    } else if (frame.type === 'step') this.#step(run, frame)
    else if (frame.type === 'call') run.callOf.set(frame.actor, frame.call)
    else if (frame.type === 'can') run.can = frame.commands
    else if (frame.type === 'questions') run.questions = frame.open.map(({ call }) => call)
    else if (frame.type === 'left') this.#leave(frame.run)
  }

  #meet(run: Run, { run: number, actor: name, chart: chartId, parent, active, context }: ActorFrame & Frame): void {
    const chart = run.charts.get(chartId)
    // one that was over before anyone looked is nobody's to show
    if (chart === undefined || isOver(chart, active)) return
    const actor: SeenActor = {
      id: idOf(number, name),
      run: number,
      title: run.title,
      chart,
      parent: parent === null ? undefined : idOf(number, parent),
      value: stateValue(chart, active),
      context,
      status: 'active',
      event: { type: 'xstate.init' },
    }
    run.actors.set(name, actor)
    this.#listener.onActor(actor)
  }

  #step(run: Run, { actor: name, event, active, context, isDone }: StepFrame): void {
    const before = run.actors.get(name)
    if (before === undefined) return
    const actor: SeenActor = {
      ...before,
      ...(active !== undefined && { value: stateValue(before.chart, active) }),
      ...(context !== undefined && { context: applyPatch(before.context, context) }),
      event: before.event.type === event ? before.event : { type: event },
      status: isDone ? 'done' : 'active',
    }
    if (isDone) run.actors.delete(name)
    else run.actors.set(name, actor)
    this.#listener.onState(actor)
    if (isDone) this.#listener.onEnd(actor)
  }

  #leave(number: number): void {
    const run = this.#runs.get(number)
    this.#runs.delete(number)
    for (const actor of run?.actors.values() ?? []) this.#listener.onEnd({ ...actor, status: 'stopped' })
  }
}

/** Each run counts its actors from the same number. */
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
