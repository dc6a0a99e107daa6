import type { BodyEnd, CallEvent, Reclassification } from '../../../machines/index.ts'
import type { Answer, Phase } from './seen-call.ts'

interface Said {
  readonly answer: Answer
  readonly label: string
  /** The effect of a changed input on the call. */
  readonly change: Reclassification | undefined
  /** How its body ended. */
  readonly end: BodyEnd
}

const timeout = { kind: 'timeout', reason: 'timeout', limit: 'total', ms: 0 } as const

const changeOf = ({ answer, change }: Said): Reclassification | undefined =>
  answer.next === 'queued' || answer.changesKeys ? change : undefined
const own = ({ answer: { cancelsSiblings }, label }: Said) => ({
  cancelsSiblings,
  description: cancelsSiblings === false ? '' : label,
})

/** Derived from the chart's reaction, not from the event's data, which the host may have redacted. */
const events: { readonly [type: string]: (said: Said) => CallEvent } = {
  'call.recovered': () => ({ type: 'call.recovered' }),
  'outcome.unknown': (said) => ({ type: 'outcome.unknown', ...own(said) }),
  'locks.granted': () => ({ type: 'locks.granted' }),
  'start.journaled': () => ({ type: 'start.journaled' }),
  'start.failed': () => ({ type: 'start.failed' }),
  'input.accepted': (said) => ({ type: 'input.accepted', change: changeOf(said) }),
  'input.rejected': (said) => ({ type: 'input.rejected', ...own(said) }),
  'preHooks.finished': (said) => ({ type: 'preHooks.finished', change: changeOf(said) }),
  'permission.undecided': () => ({ type: 'permission.undecided' }),
  'permission.allowed': (said) => ({ type: 'permission.allowed', change: changeOf(said) }),
  'permission.deferred': () => ({ type: 'permission.deferred' }),
  'permission.denied': ({ answer }) => ({ type: 'permission.denied', stopsTurn: answer.stopsTurn }),
  'tool.settled': ({ answer: { next }, end }) => ({
    type: 'tool.settled',
    end,
    willRetry: next === 'retrying',
    needsFormatting: next === 'formatting',
  }),
  'call.detach': () => ({ type: 'call.detach', how: { isAwaited: true, onEnd: 'stop' } }),
  'call.timedOut': () => ({ type: 'call.timedOut', cause: timeout }),
  'call.graceEnded': () => ({ type: 'call.graceEnded' }),
  'retry.due': () => ({ type: 'retry.due' }),
  'postHooks.finished': () => ({ type: 'postHooks.finished' }),
  'result.formatted': (said) => ({ type: 'result.formatted', ...own(said) }),
}

export const eventOf = (said: Said): CallEvent | undefined =>
  Object.hasOwn(events, said.answer.event) ? events[said.answer.event]?.(said) : undefined

const simply = (event: string): Answer => ({
  event,
  seq: Number.POSITIVE_INFINITY,
  next: '',
  cancelsSiblings: false,
  stopsTurn: false,
  changesKeys: false,
})

/** The successful end of each phase, used if the recording does not contain its end. */
export const usualAnswers: { readonly [P in Phase]: Answer } = {
  recovering: simply('call.recovered'),
  locking: simply('locks.granted'),
  journaling: simply('start.journaled'),
  validating: simply('input.accepted'),
  preHooks: simply('preHooks.finished'),
  deciding: simply('permission.undecided'),
  asking: simply('permission.allowed'),
  later: simply('permission.allowed'),
  calling: simply('tool.settled'),
  retrying: simply('retry.due'),
  stopping: simply('tool.settled'),
  postHooks: simply('postHooks.finished'),
  formatting: simply('result.formatted'),
}
