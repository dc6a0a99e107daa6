import type { Encoded } from './encode-value.ts'
import type { Frame } from './frame.ts'

type Check = (value: unknown) => boolean
type Shape = Readonly<Record<string, Check>>

const isText: Check = (value) => typeof value === 'string' && value.length <= 100_000
const isNumber: Check = (value) => typeof value === 'number' && Number.isFinite(value)
export const isCount: Check = (value) => Number.isSafeInteger(value) && (value as number) >= 0
const isBoolean: Check = (value) => typeof value === 'boolean'
const isAnything: Check = () => true
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value)
const maybe =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value)
export const listOf =
  (check: Check): Check =>
  (value) =>
    Array.isArray(value) && value.every(check)
export const oneOf =
  (...words: string[]): Check =>
  (value) =>
    words.includes(value as string)
const tuple =
  (...checks: Check[]): Check =>
  (value) =>
    Array.isArray(value) && checks.every((check, index) => check(value[index]))
export const fields =
  (shape: Shape): Check =>
  (value) =>
    typeof value === 'object' && value !== null && Object.entries(shape).every(([key, check]) => check(own(value, key)))

const own = (value: object, key: string): unknown =>
  Object.hasOwn(value, key) ? (value as Record<string, unknown>)[key] : undefined

const isStage = oneOf('queued', 'held', 'withdrawn', 'executing', 'completed', 'yielded')
const isLane = oneOf('shared', 'exclusive')
const isPath = listOf(isText)
const isPatch = fields({ set: maybe(listOf(tuple(isPath, isAnything))), drop: maybe(listOf(isPath)) })
const isSource = fields({ by: isText, name: maybe(isText) })
const isCause = fields({ kind: isText, reason: isAnything, description: maybe(isText) })

const isNode = fields({
  id: isCount,
  key: isText,
  parent: orNull(isCount),
  kind: oneOf('atomic', 'compound', 'parallel', 'final', 'history'),
  initial: orNull(isCount),
  entry: listOf(isText),
  exit: listOf(isText),
  tags: listOf(isText),
})
const isTransition = fields({
  id: isCount,
  source: isCount,
  event: isText,
  guard: orNull(isText),
  targets: listOf(isCount),
  actions: listOf(isText),
})
export const isChart: Check = fields({ id: isText, nodes: listOf(isNode), transitions: listOf(isTransition) })

const shapes: { readonly [Type in Frame['type']]: Shape } = {
  head: { version: isCount, epoch: isNumber },
  run: {
    title: isText,
    isLate: isBoolean,
    maxConcurrency: orNull(isNumber),
    root: isText,
    parentToolUseID: maybe(isText),
    guards: maybe(oneOf('unavailable')),
    recovered: maybe(fields({ session: isText, from: orNull(isText), by: isText })),
    isContinued: maybe(isBoolean),
  },
  server: { name: isText, root: isText },
  waiting: { call: isText, isWaiting: isBoolean },
  chart: { chart: isChart },
  actor: { actor: isText, chart: isText, parent: orNull(isText), active: listOf(isCount), context: isAnything },
  event: { from: orNull(isText), to: isText, event: isText, data: isAnything },
  guards: {
    actor: isText,
    event: isText,
    candidates: listOf(tuple(isNumber, oneOf('passed', 'failed', 'notAsked'))),
    refusal: maybe(fields({ call: isText, because: isText, blockers: listOf(isText), key: maybe(isText) })),
  },
  step: {
    actor: isText,
    event: isText,
    transitions: listOf(isNumber),
    active: maybe(listOf(isCount)),
    context: maybe(isPatch),
  },
  call: {
    call: isText,
    actor: isText,
    index: isCount,
    name: isText,
    label: isText,
    input: isAnything,
    lane: isLane,
    keys: maybe(fields({ reads: listOf(isText), writes: listOf(isText) })),
    stopsAtInterrupt: isBoolean,
    stage: isStage,
  },
  schedule: {
    stages: maybe(listOf(tuple(isText, isStage, isLane))),
    cursor: maybe(fields({ next: isCount, completedUpTo: isCount, waitsFor: orNull(isText) })),
    waits: maybe(
      listOf(
        fields({
          because: isText,
          blockers: listOf(isText),
          key: maybe(isText),
          calls: listOf(tuple(isCount, isCount)),
        }),
      ),
    ),
  },
  locks: {
    call: isText,
    key: orNull(isText),
    holders: listOf(
      fields({ call: isText, name: isText, session: maybe(isText), agent: maybe(isText), isWaiting: maybe(isBoolean) }),
    ),
  },
  abort: {
    layer: oneOf('executor', 'call'),
    call: orNull(isText),
    from: oneOf('host', 'executor', 'call'),
    event: isText,
    cause: isCause,
  },
  ending: {
    call: isText,
    by: oneOf('answer', 'result', 'background', 'journal', 'unknown', 'abort'),
    kind: orNull(isText),
    reached: orNull(isText),
  },
  decision: { call: isText, behavior: oneOf('allow', 'ask', 'deny', 'defer'), source: isSource },
  attempt: { call: isText, attempt: isCount, error: isAnything, backoffMs: orNull(isNumber) },
  place: { call: isText, place: oneOf('sent', 'remote', 'lost'), worker: orNull(isText), waiting: orNull(isCount) },
  background: {
    id: isText,
    call: isText,
    name: isText,
    label: isText,
    status: oneOf('running', 'stopping', 'finished', 'failed', 'stopped', 'unknown', 'delivered', 'dropped'),
  },
  progress: { call: isText, count: isCount, data: isAnything },
  result: { call: isText, message: isText, isError: isBoolean, content: isAnything },
  said: { by: oneOf('user', 'model', 'thought', 'host'), text: isText },
  reply: {
    model: orNull(isText),
    stopReason: isText,
    tokens: fields({ input: isNumber, output: isNumber, cacheRead: isNumber, cacheWrite: isNumber }),
    costUsd: maybe(isNumber),
  },
  questions: {
    open: listOf(
      fields({
        call: isText,
        name: isText,
        input: isAnything,
        because: maybe(isSource),
        message: maybe(isText),
        rule: maybe(isText),
      }),
    ),
  },
  can: { commands: listOf(isText) },
  warning: { call: orNull(isText), code: isText, message: isText },
  gap: { because: isText, lost: isCount },
  breach: { invariant: isText, problem: isText },
  left: {},
}

const isStamp = fields({ seq: isCount, at: isNumber, run: isCount, type: isText })

/**
 * Validates untrusted input as a frame. Returns undefined for a type that this version does not know (skip it), or a
 * string that says what is wrong.
 */
export function checkFrame(value: unknown): Frame | string | undefined {
  const problem = frameProblem(value)
  if (problem !== undefined) return problem
  return isKnown(value as Frame) ? (shallow(value as Encoded, 0) as unknown as Frame) : undefined
}

/** Why the value is not a frame. Undefined for a valid frame, and for a type that this version does not know. */
export function frameProblem(value: unknown): string | undefined {
  if (!isStamp(value)) return 'not a frame'
  const frame = value as Frame
  return isKnown(frame) && !fields(shapes[frame.type])(frame) ? `not a valid ${frame.type} frame` : undefined
}

const isKnown = ({ type }: Frame): boolean => Object.hasOwn(shapes, type)

const maxDepth = 40

/** Limits nesting: recursive functions draw the value. */
function shallow(value: Encoded, depth: number): Encoded {
  if (typeof value !== 'object' || value === null) return value
  if (depth >= maxDepth) return { $: 'deeper' }
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) value[index] = shallow(value[index] as Encoded, depth + 1)
    return value
  }
  const object = value as Record<string, Encoded>
  for (const key of Object.keys(object)) {
    if (key === '__proto__') delete object[key]
    else object[key] = shallow(object[key] as Encoded, depth + 1)
  }
  return value
}
