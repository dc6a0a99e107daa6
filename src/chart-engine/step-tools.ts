import { type AnyActorRef, cancel, emit, raise, sendParent, sendTo, spawnChild, stopChild } from 'xstate'
import type { ChartAction } from './chart-actions.ts'
import type { Assignment, ChartStep, Collect, Resolvable } from './chart-step.ts'

/**
 * `enqueue`, `check` and `spawn` for assigners and collecting functions. Shared by all steps, because creating them for
 * each step would take longer than most actions. They work only while that function runs, and throw afterwards.
 */

export type Spawn = (...args: unknown[]) => AnyActorRef
type Creator = (...args: never[]) => unknown

let assigning: ChartStep | undefined
/** The step whose collecting function is running. */
let collector: ChartStep | undefined

type Kind = 'action' | 'assign' | 'sendTo'

/**
 * Enqueued actions that have not run yet, three entries each: kind, first and second argument. One stack for all, because
 * a closure and a list per function would cost more than the actions. The array is never truncated, because a truncated
 * array would be allocated again.
 */
let enqueued: unknown[] = []
/** The number of entries in use. */
let top = 0
/** Enough for an abort of a turn of usual size. */
const mostRoom = 256

/** Returns the previous step, to be restored afterwards. */
export function whileAssigning(step: ChartStep | undefined): ChartStep | undefined {
  const outer = assigning
  assigning = step
  return outer
}

/** Runs the actions that a collecting function enqueued, after it has returned. Calls may nest. */
export function collectAndRun(step: ChartStep, collect: Collect, args: object, params: unknown): void {
  const outer = collector
  const from = top
  collector = step
  try {
    collect(args, params)
  } catch (error) {
    dropAbove(from)
    throw error
  } finally {
    collector = outer
  }
  const end = top
  if (end === from) return
  try {
    for (let at = from; at < end; at += 3) run(step, enqueued[at] as Kind, enqueued[at + 1], enqueued[at + 2])
  } finally {
    dropAbove(from)
  }
}

function dropAbove(from: number): void {
  if (from === 0 && top > mostRoom) {
    enqueued = []
    top = 0
  }
  while (top > from) enqueued[--top] = undefined
}

function run(step: ChartStep, kind: Kind, first: unknown, second: unknown): void {
  if (kind === 'sendTo') step.sendTo(first, second, undefined, undefined)
  else if (kind === 'assign') step.assign(first as Assignment, undefined)
  else (first as ChartAction)(step)
}

export const spawn: Spawn = (...given) => running(assigning, 'spawn').spawn(given)

export const check = (guard: unknown): boolean => running(collector, 'check').check(guard)

function push(kind: Kind, first: unknown, second: unknown): void {
  running(collector, 'enqueue')
  enqueued[top++] = kind
  enqueued[top++] = first
  enqueued[top++] = second
}

const enqueueAction = (action: unknown): void =>
  push('action', running(collector, 'enqueue').at.compileAction(action as never), undefined)

const enqueues =
  (create: Creator) =>
  (...args: unknown[]): void =>
    enqueueAction(create(...(args as never[])))

export const enqueue = Object.assign(enqueueAction, {
  assign: (assignment: Assignment) => push('assign', assignment, undefined),
  sendTo: (to: Resolvable, event: Resolvable, options?: object) => {
    if (options === undefined && typeof event !== 'string') push('sendTo', to, event)
    else enqueueAction(sendTo(to as never, event as never, options as never))
  },
  cancel: enqueues(cancel),
  emit: enqueues(emit),
  raise: enqueues(raise),
  sendParent: enqueues(sendParent),
  spawnChild: enqueues(spawnChild as Creator),
  stopChild: enqueues(stopChild),
})

function running<Running>(found: Running | undefined, name: string): Running {
  if (found === undefined)
    throw new Error(
      `\`${name}\` was called after its action had returned. Call it only inside that action, synchronously.`,
    )
  return found
}
