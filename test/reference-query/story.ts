/** The traits of a call: its tool, the model's text, and the behaviour of the host and its hooks. */
export interface CallPlan {
  readonly safe: boolean
  /** Its interrupt behaviour is `'cancel'`, otherwise `'block'`. */
  readonly cancel: boolean
  readonly cascades: boolean
  /** Its body settles when its signal aborts; otherwise it continues. */
  readonly obedient: boolean
  /** Its body ends as soon as it has begun. */
  readonly instant: boolean
  readonly startWhen: 'default' | 'closed' | 'nextBlock' | 'turnEnded'
  readonly fault: 'none' | 'unknown' | 'broken' | 'array' | 'invalid'
  readonly asks: boolean
  /** A hook with continue false, before or after the call. */
  readonly hook: 'none' | 'pre' | 'post'
}

export type ErrorWord = 'overloaded' | 'connection' | 'fatal' | 'later'

export interface QueryPlan {
  readonly maxTurns: number
  readonly attempts: number
  readonly hasFallback: boolean
  readonly isBatch: boolean
  readonly isHooked: boolean
  readonly maxConcurrency: number
  /** What happens before the first message is read. */
  readonly before: 'nothing' | 'host aborted' | 'abort' | 'send'
  /** Whether the host prepares the messages, and whether that waits for a move. */
  readonly prepares: 'no' | 'at once' | 'later'
  /** The number of the preparation that fails. */
  readonly unprepared: number | undefined
  /** Requests that fail before they have a stream, by number. */
  readonly openings: readonly (ErrorWord | undefined)[]
  /** Replies come without `message_start`. */
  readonly isNameless: boolean
  /** All replies have the same id. */
  readonly isMonotone: boolean
  /** Its streams ignore their signal. */
  readonly isDeaf: boolean
  readonly limits: PlannedLimits | undefined
}

/** No reply tells its usage, so each is charged the most that it may have. */
export interface PlannedLimits {
  readonly turns?: number
  readonly calls?: number
  readonly outputTokens?: number
}

/** The most that a reply may have. */
export const replyTokens = 10

/** The id of a call: its own, or that of another one. */
type IdChoice = 'fresh' | 'same' | 'clash' | 'earlier'

/** One possible event; `pick` chooses among the candidates. It is skipped if there is none. */
export type Move =
  | { do: 'call'; plan: CallPlan; id: IdChoice; pick: number; leaveOpen: boolean }
  | { do: 'text' | 'think'; leaveOpen: boolean }
  | { do: 'close' | 'stray'; pick: number }
  | { do: 'announce'; other: boolean }
  /** A reply without calls ends the query: it stops there only if it may do so `alone`. */
  | { do: 'stop'; reason: string; ends: boolean; alone: boolean }
  | { do: 'end' | 'interrupt' | 'steer' | 'send' | 'leave' | 'prepare' }
  | { do: 'break'; error: ErrorWord; asEvent: boolean }
  | { do: 'finish'; pick: number; modifies: boolean }
  | { do: 'fail' | 'progress'; pick: number }
  | { do: 'answer'; pick: number; answer: Answer }
  | { do: 'pass'; ticks: number }
  | { do: 'abort' | 'host'; reason: string | undefined }

export type Answer = 'allow' | 'deny' | 'deny and stop'

export const tickMs = 10
export const graceMs = 30
// not a multiple of a tick, so that no two kinds of timers end together
export const idleMs = 65
export const backoffMs = (failures: number): number => failures * 12
export const unknownName = 'nowhere'

/** A query and its moves, one line per move. */
export class Story {
  readonly plan: QueryPlan
  readonly moves: readonly Move[]

  constructor(plan: QueryPlan, moves: readonly Move[]) {
    this.plan = plan
    this.moves = moves
  }

  toString(): string {
    return [planInWords(this.plan), ...this.moves.map((move, at) => `${at + 1}. ${moveInWords(move)}`)].join('\n')
  }
}

/** Only unusual settings. */
export const planInWords = (plan: QueryPlan): string =>
  [
    `a query of up to ${plan.maxTurns} turns`,
    `${plan.attempts} retries`,
    `limit ${plan.maxConcurrency}`,
    ...(plan.hasFallback ? ['a fallback'] : []),
    ...(plan.isBatch ? ['in batches'] : []),
    ...(plan.isHooked ? ['hooks'] : []),
    ...(plan.before === 'nothing' ? [] : [`before it: ${plan.before}`]),
    ...(plan.prepares === 'no' ? [] : [`messages prepared ${plan.prepares}`]),
    ...(plan.unprepared === undefined ? [] : [`preparation ${plan.unprepared} fails`]),
    ...plan.openings.flatMap((error, at) => (error === undefined ? [] : [`request ${at + 1} fails: ${error}`])),
    ...(plan.isNameless ? ['replies are not announced'] : []),
    ...(plan.isMonotone ? ['replies have one id'] : []),
    ...(plan.isDeaf ? ['streams are deaf'] : []),
    ...(plan.limits === undefined ? [] : [`limits ${JSON.stringify(plan.limits)}`]),
  ].join(', ')

/** The name of the tool of such a call. */
export const toolName = ({ safe, cancel, cascades, obedient, instant, startWhen }: CallPlan): string =>
  [
    safe ? 'safe' : 'unsafe',
    cancel ? 'cancel' : 'block',
    ...(cascades ? ['cascading'] : []),
    instant ? 'instant' : obedient ? 'obedient' : 'stubborn',
    ...(startWhen === 'default' ? [] : [startWhen]),
  ].join('_')

export const callInWords = (plan: CallPlan): string =>
  [
    toolName(plan).replaceAll('_', ' '),
    ...(plan.fault === 'none' ? [] : [plan.fault]),
    ...(plan.asks ? ['asks'] : []),
    ...(plan.hook === 'none' ? [] : [`hook stops ${plan.hook}`]),
  ].join(', ')

function moveInWords(move: Move): string {
  const { do: what, ...rest } = move
  if (what !== 'call') return [what, ...Object.values(rest).map(String)].join(' ')
  const { plan, id, leaveOpen } = move
  return `call: ${callInWords(plan)}${id === 'fresh' ? '' : `, id ${id}`}${leaveOpen ? ', left open' : ''}`
}
