import type { AnyActorRef, AnyEventObject, AnyMachineSnapshot, AnyTransitionDefinition } from 'xstate'
import type { CallRecord } from '../../machines/index.ts'
import type { NameOfActor } from './actor-names.ts'
import { whereabouts } from './call-frames.ts'
import type { ChartDefinition, KnownChart } from './chart-definition.ts'
import { diffValue, type Patch } from './diff-value.ts'
import type { Encoded } from './encode-value.ts'
import type { FrameBody, GuardAnswer, StepFrame } from './frame.ts'
import type { Show } from './redact.ts'
import { activeStates, chartOfActor } from './xstate-view.ts'

/** An actor as it was seen last. */
export interface Watched {
  readonly id: string
  readonly chart: KnownChart
  active: readonly number[]
  contextRef: unknown
  context: Encoded
  call: CallRecord | undefined
  refused: unknown
}

type Regions = readonly (readonly AnyTransitionDefinition[])[]

/** The actors of a run that were seen, each with what of it has been told already. */
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

  /** One that was just made: it is in its first states, and has no snapshot yet. */
  born(actor: AnyActorRef): FrameBody[] {
    const chart = chartOfActor(actor)
    if (chart === undefined) return []
    return [...this.chart(chart.definition), this.#frame(actor, this.#watch(actor, chart, chart.initial))]
  }

  /** One that was there before. */
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

  /** What changed in the context, which is looked at only where it is another one. */
  contextPatch(watched: Watched, { context }: AnyMachineSnapshot): Patch | undefined {
    if (context === watched.contextRef) return undefined
    const { call } = context as { call?: CallRecord }
    watched.call = call
    watched.contextRef = context
    const encoded = this.#show(context, { what: 'context', ...whereabouts(call) })
    const patch = diffValue(watched.context, encoded)
    watched.context = encoded
    return patch
  }

  guards(
    actor: AnyActorRef,
    event: AnyEventObject,
    regions: Regions,
    taken: readonly AnyTransitionDefinition[],
  ): FrameBody | undefined {
    const watched = this.#actors.get(actor)
    const isGuarded = regions.some((region) => region.some(({ guard }) => guard !== undefined))
    if (watched === undefined || !isGuarded) return undefined
    // asked after every step; a no that was told already tells nothing new
    if (taken.length > 0) watched.refused = undefined
    else if (regions === watched.refused) return undefined
    else if (regions[0]?.[0]?.eventType === '') watched.refused = regions
    const candidates = regions.flatMap((region) => answersOf(region, taken, watched.chart))
    return { type: 'guards', actor: watched.id, event: event.type, candidates }
  }

  #watch(actor: AnyActorRef, chart: KnownChart, active: readonly number[]): Watched {
    const nothing = { contextRef: undefined, context: {}, call: undefined, refused: undefined }
    const watched: Watched = { id: this.idOf(actor), chart, active, ...nothing }
    this.#actors.set(actor, watched)
    return watched
  }

  #frame(actor: AnyActorRef, { id, chart, active, context }: Watched): FrameBody {
    const parent = actor._parent === undefined ? null : this.idOf(actor._parent)
    return { type: 'actor', actor: id, chart: chart.definition.id, parent, active, context }
  }
}

/** The candidates of a region are asked in order, until one passes. */
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
