import type { AnyActorRef, AnyEventObject, AnyMachineSnapshot, AnyTransitionDefinition } from 'xstate'
import type { CallRecord } from '../../../machines/index.ts'
import type { ChartDefinition, KnownChart } from '../frames/chart-definition.ts'
import { diffValue, type Patch } from '../frames/diff-value.ts'
import type { Encoded } from '../frames/encode-value.ts'
import type { FrameBody, GuardAnswer, GuardsFrame, StepFrame } from '../frames/frame.ts'
import type { Show } from '../frames/redact.ts'
import { whereabouts } from './call-frames.ts'
import { activeStates, chartOfActor, type NameOfActor } from './xstate-view.ts'

/** The last known state of an actor. */
export interface Watched {
  readonly id: string
  readonly chart: KnownChart
  active: readonly number[]
  contextRef: unknown
  context: Encoded
  call: CallRecord | undefined
  decision: unknown
  /** The guard that failed last, and the call it refused. */
  refused: unknown
  refusal: string
}

type Regions = readonly (readonly AnyTransitionDefinition[])[]

/** The actors of a run, each with what frames already contain about it. */
export class ActorFrames {
  readonly #show: Show
  readonly idOf: NameOfActor
  readonly #actors = new Map<unknown, Watched>()
  readonly #charts = new Set<ChartDefinition>()

  constructor(show: Show, idOf: NameOfActor) {
    this.#show = show
    this.idOf = idOf
  }

  get(actor: AnyActorRef | undefined): Watched | undefined {
    return this.#actors.get(actor)
  }

  clear(): void {
    this.#actors.clear()
    this.#charts.clear()
  }

  chart(chart: ChartDefinition): FrameBody[] {
    if (this.#charts.has(chart)) return []
    this.#charts.add(chart)
    return [{ type: 'chart', chart }]
  }

  /** A new actor: it is in its initial states and has no snapshot yet. */
  born(actor: AnyActorRef): FrameBody[] {
    const chart = chartOfActor(actor)
    if (chart === undefined) return []
    return [...this.chart(chart.definition), this.#frame(actor, this.#watch(actor, chart, chart.initial))]
  }

  /** An actor that existed before the recorder attached. */
  found(actor: AnyActorRef): FrameBody[] {
    const chart = chartOfActor(actor)
    if (chart === undefined) return []
    const snapshot = actor.getSnapshot() as AnyMachineSnapshot
    const watched = this.#watch(actor, chart, activeStates(snapshot))
    this.contextPatch(watched, snapshot)
    if (snapshot.status !== 'active') this.#actors.delete(actor)
    return [...this.chart(chart.definition), this.#frame(actor, watched)]
  }

  step(
    actor: AnyActorRef,
    event: AnyEventObject,
    snapshot: AnyMachineSnapshot,
    transitions: readonly AnyTransitionDefinition[],
  ): StepFrame | undefined {
    const watched = this.#actors.get(actor)
    if (watched === undefined) return undefined
    const active = activeStates(snapshot)
    const isMoved = active !== watched.active
    const context = this.contextPatch(watched, snapshot)
    if (transitions.length === 0 && !isMoved && context === undefined) return undefined
    watched.active = active
    const isDone = snapshot.status === 'done'
    if (isDone) this.#actors.delete(actor)
    return {
      type: 'step',
      actor: watched.id,
      event: event.type,
      transitions: transitions.map((each) => watched.chart.transitionId(each) ?? -1),
      ...(isMoved && { active }),
      ...(context !== undefined && { context }),
      ...(isDone && { isDone: true }),
    }
  }

  /** The changes of the context. Compared only if the context object is a different one. */
  contextPatch(watched: Watched, { context }: AnyMachineSnapshot): Patch | undefined {
    if (context === watched.contextRef) return undefined
    const { call } = context as { call?: CallRecord }
    watched.call = call
    watched.contextRef = context
    // the port is the program around the chart, with everything that the host passed to it
    const { port: _, ...remembered } = context as { port?: unknown }
    const encoded = this.#show(remembered, { what: 'context', ...whereabouts(call) })
    const patch = diffValue(watched.context, encoded)
    watched.context = encoded
    return patch
  }

  /** @param toWhom the refused call, if known: the same refusal is reported again for a different call */
  guards(
    actor: AnyActorRef,
    event: AnyEventObject,
    regions: Regions,
    taken: readonly AnyTransitionDefinition[],
    toWhom = '',
  ): GuardsFrame | undefined {
    const watched = this.#actors.get(actor)
    const isGuarded = regions.some((region) => region.some(({ guard }) => guard !== undefined))
    if (watched === undefined || !isGuarded) return undefined
    // evaluated after every step: report the same refusal once
    if (taken.length > 0) watched.refused = undefined
    else if (regions === watched.refused && toWhom === watched.refusal) return undefined
    else if (regions[0]?.[0]?.eventType === '') Object.assign(watched, { refused: regions, refusal: toWhom })
    const candidates = regions.flatMap((region) => answersOf(region, taken, watched.chart))
    return { type: 'guards', actor: watched.id, event: event.type, candidates }
  }

  #watch(actor: AnyActorRef, chart: KnownChart, active: readonly number[]): Watched {
    const nothing = {
      contextRef: undefined,
      context: {},
      call: undefined,
      decision: undefined,
      refused: undefined,
      refusal: '',
    }
    const watched: Watched = { id: this.idOf(actor), chart, active, ...nothing }
    this.#actors.set(actor, watched)
    return watched
  }

  #frame(actor: AnyActorRef, { id, chart, active, context }: Watched): FrameBody {
    const parent = actor._parent === undefined ? null : this.idOf(actor._parent)
    return { type: 'actor', actor: id, chart: chart.definition.id, parent, active, context }
  }
}

/** The candidates of a region are tried in order, until one passes. */
function answersOf(
  region: readonly AnyTransitionDefinition[],
  taken: readonly AnyTransitionDefinition[],
  chart: KnownChart,
): [number, GuardAnswer][] {
  const at = region.findIndex((each) => taken.includes(each))
  return region.map((transition, index) => [
    chart.transitionId(transition) ?? -1,
    at < 0 || index < at ? 'failed' : index === at ? 'passed' : 'notAsked',
  ])
}
