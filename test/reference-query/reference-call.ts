import type { SentCall } from './entry.ts'
import type { CallPlan } from './story.ts'

type StartWhen = Exclude<CallPlan['startWhen'], 'default'>

/** A call of one attempt, in the reference. */
export interface ReferenceCall {
  readonly name: string
  readonly sent: SentCall
  readonly plan: CallPlan
  /** It never runs: its tool, its arguments or its id are invalid. */
  readonly isAnswered: boolean
  readonly isSafe: boolean
  /** Consecutive safe calls share what they see of the context. */
  readonly safeGroup: { marks: string | undefined }
  stage: 'waiting' | 'asking' | 'running' | 'stopping' | 'over'
  heldUntil: StartWhen | undefined
  question: number | undefined
  /** The host allowed it; this stays while it waits for a slot. */
  isPermitted: boolean
  body: number | undefined
  /** When a body that was told to stop is abandoned. */
  deadline: number
  isError: boolean
  modifies: boolean
  notes: number
  isYielded: boolean
}

export const isExecuting = ({ stage }: ReferenceCall): boolean =>
  stage === 'asking' || stage === 'running' || stage === 'stopping'

const isInvalid = ({ fault }: CallPlan): boolean => fault === 'array' || fault === 'invalid'

export function referenceCall(
  name: string,
  sent: SentCall,
  {
    isClash,
    isBatch,
    lastRun,
  }: { isClash: boolean; isBatch: boolean; lastRun: ReferenceCall['safeGroup'] | undefined },
): ReferenceCall {
  const { plan } = sent
  const isAnswered = isClash || plan.fault === 'unknown' || plan.fault === 'broken'
  const isSafe = plan.safe && !isAnswered && !isInvalid(plan)
  const usual = isSafe ? 'closed' : 'nextBlock'
  const startWhen = isBatch ? 'turnEnded' : plan.startWhen === 'default' ? usual : plan.startWhen
  return {
    name,
    sent,
    plan,
    isAnswered,
    isSafe,
    safeGroup: lastRun ?? { marks: undefined },
    stage: isAnswered ? 'over' : 'waiting',
    heldUntil: isAnswered || startWhen === 'closed' ? undefined : startWhen,
    question: undefined,
    isPermitted: false,
    body: undefined,
    deadline: 0,
    isError: isAnswered,
    modifies: false,
    notes: 0,
    isYielded: false,
  }
}

/** Its arguments do not match, which is found when it starts. */
export const failsAtOnce = ({ plan }: ReferenceCall): boolean => isInvalid(plan)
