import type { CallEvent } from '../../../machines/index.ts'
import type { Answer, Phase } from './seen-call.ts'

interface Said {
  readonly answer: Answer
  readonly label: string
  /** It may still lose its place among the safe ones. */
  readonly mayBecomeUnsafe: boolean
  /** Its body came to its end though it was told to stop. */
  readonly finished: boolean
}

const timeout = { kind: 'timeout', reason: 'timeout', limit: 'total', ms: 0 } as const

const becameUnsafe = ({ answer, mayBecomeUnsafe }: Said): boolean => mayBecomeUnsafe && answer.next === 'queued'
const own = ({ answer: { cancelsSiblings }, label }: Said) => ({
  cancelsSiblings,
  description: cancelsSiblings ? label : '',
})

/** Read from what the chart made of it, not from the event's own data, which the host may have withheld. */
const events: { readonly [type: string]: (said: Said) => CallEvent } = {
  'input.accepted': () => ({ type: 'input.accepted' }),
  'input.rejected': (said) => ({ type: 'input.rejected', ...own(said) }),
  'preHooks.finished': (said) => ({ type: 'preHooks.finished', becameUnsafe: becameUnsafe(said) }),
  'permission.undecided': () => ({ type: 'permission.undecided' }),
  'permission.allowed': (said) => ({ type: 'permission.allowed', becameUnsafe: becameUnsafe(said) }),
  'permission.denied': ({ answer }) => ({ type: 'permission.denied', stopsTurn: answer.stopsTurn }),
  'tool.settled': ({ answer: { next }, finished }) => ({
    type: 'tool.settled',
    finished,
    willRetry: next === 'retrying',
    needsFormatting: next === 'formatting',
  }),
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
})

/** What ends a phase well where the recording does not say how it ended. */
export const usualAnswers: { readonly [P in Phase]: Answer } = {
  validating: simply('input.accepted'),
  preHooks: simply('preHooks.finished'),
  deciding: simply('permission.undecided'),
  asking: simply('permission.allowed'),
  calling: simply('tool.settled'),
  retrying: simply('retry.due'),
  stopping: simply('tool.settled'),
  postHooks: simply('postHooks.finished'),
  formatting: simply('result.formatted'),
}
