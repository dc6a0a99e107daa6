import { type QueryEvent, type QueryPort, queryChart } from '../../../machines/index.ts'
import { chooseEngine } from '../../chart-engine/choose-engine.ts'
import type { Records } from '../../journal/records.ts'

const nothing = (): void => undefined
const mostSteps = 12

/** One run of a session: the production chart, driven by records. */
export class LoggedQuery {
  readonly actor
  readonly #flags = {
    hasOpenTurn: false,
    hasOpenCalls: false,
    isHookStopped: false,
    needsAnotherTurn: false,
    awaitsBackground: false,
    isLastTurn: false,
    needsReserve: false,
  }

  /** @param hasOpenTurn an earlier process has left a turn that is not over */
  constructor(hasOpenTurn: boolean) {
    this.#flags.hasOpenTurn = hasOpenTurn
    const port: QueryPort = Object.assign(this.#flags, {
      prepare: nothing,
      reserve: nothing,
      leaveReserve: nothing,
      stopForLimit: nothing,
      runOpenCalls: nothing,
      recover: nothing,
      startSuspendGrace: nothing,
      haltTools: nothing,
      abandon: nothing,
      openStream: nothing,
      stopModel: nothing,
      discardAttempt: nothing,
      discardReply: nothing,
      discardRefusal: nothing,
      cutReply: nothing,
      startBackoff: nothing,
      useFallback: nothing,
      closeReply: nothing,
      abortTools: nothing,
      drain: nothing,
      conclude: nothing,
    })
    this.actor = chooseEngine().createRoot(queryChart(), { id: 'query', input: { port } })
    this.actor.start()
  }

  get isOver(): boolean {
    return this.actor.getSnapshot().status !== 'active'
  }

  /** `reply.started` */
  ask(): void {
    this.#flags.needsAnotherTurn = true
    this.#go((state) => (state === 'streaming' ? undefined : toStreaming[state]))
    this.#flags.needsAnotherTurn = false
  }

  /** A record of a call or of a reply that an earlier process began. */
  goOn(): void {
    this.#go((state) =>
      state === 'idle' ? start : state === 'recovering' ? { type: 'turn.recovered', next: 'draining' } : undefined,
    )
  }

  stopped({ isCutOff, isWhole }: Records['reply.stopped']): void {
    if (this.#state !== 'streaming') return this.goOn()
    if (isCutOff !== true) return this.#send({ type: 'stream.ended', isWhole })
    this.#send({ type: 'stream.failed', error: undefined, recovery: 'retry', delayMs: 0, hasEffects: true })
  }

  discarded({ usesFallback }: Records['attempt.discarded']): void {
    const recovery = usesFallback === true ? 'fallBack' : 'retry'
    this.#go((state) => {
      if (state === 'idle') return start
      if (state === 'recovering') return { type: 'turn.recovered', next: 'preparing' }
      if (state !== 'streaming') return undefined
      return { type: 'stream.failed', error: undefined, recovery, delayMs: 0, hasEffects: false }
    })
  }

  suspended(): void {
    this.#go((state) => (state === 'suspending' ? { type: 'tools.halted' } : suspend))
    if (this.isOver) return
    this.#send({ type: 'suspend.due' })
    this.#send({ type: 'tools.halted' })
  }

  ended({ reason, abortReason, error, limit }: Records['run.ended']): void {
    this.#flags.isHookStopped = reason === 'hook_stopped'
    this.#flags.isLastTurn = reason === 'max_turns'
    // it ended where its next request needed a reserve
    this.#flags.needsReserve = reason === 'limit'
    this.#flags.needsAnotherTurn = reason === 'max_turns' || reason === 'limit'
    const isAborted = reason === 'aborted_streaming' || reason === 'aborted_tools'
    let isTold = false
    this.#go((state) => {
      if (isAborted && !isTold && state !== 'idle' && state !== 'recovering') {
        isTold = true
        return { type: 'query.abort', reason: abortReason }
      }
      if (state === 'reserving') return limit && { type: 'limit.reached', reached: limit }
      if (reason === 'model_error' && state === 'preparing') return { type: 'turn.failed', error }
      if (reason === 'model_error' && state === 'streaming')
        return { type: 'stream.failed', error, recovery: 'none', delayMs: 0, hasEffects: false }
      return toEnd[state]
    })
  }

  get #state(): string {
    return String(this.actor.getSnapshot().value)
  }

  #go(next: (state: string) => QueryEvent | undefined): void {
    for (let step = 0; step < mostSteps && !this.isOver; step++) {
      const before = this.#state
      const event = next(before)
      if (event === undefined) return
      this.#send(event)
      if (this.#state === before) return
    }
  }

  #send(event: QueryEvent): void {
    if (!this.isOver) this.actor.send(event)
  }
}

const start: QueryEvent = { type: 'query.start' }
const suspend: QueryEvent = { type: 'query.suspend', graceMs: 0 }
const drained: QueryEvent = { type: 'results.drained' }

const toStreaming: { readonly [state: string]: QueryEvent } = {
  idle: start,
  recovering: { type: 'turn.recovered', next: 'preparing' },
  preparing: { type: 'turn.prepared' },
  retrying: { type: 'retry.due' },
  draining: drained,
  salvaging: drained,
  awaiting: { type: 'message.sent' },
}

const toEnd: { readonly [state: string]: QueryEvent } = {
  idle: start,
  recovering: { type: 'turn.recovered', next: 'draining' },
  preparing: { type: 'turn.prepared' },
  streaming: { type: 'stream.ended', isWhole: true },
  draining: drained,
  salvaging: drained,
  retrying: { type: 'retry.due' },
  awaiting: { type: 'background.finished' },
  abortingStream: drained,
  abortingTools: drained,
  failing: drained,
}
