import { createActor } from 'xstate'
import {
  type CallEvent,
  type CallRecord,
  type ExecutorMachine,
  ExecutorSchedule,
  executorChart,
} from '../../machines/index.ts'
import { once } from '../../machines/once.ts'
import { compileChart } from '../../src/chart-engine/compile-chart.ts'
import { recordSteps, type TakenTransitions } from './chart-transitions.ts'
import { type ScriptedCallOptions, type ScriptedRunPort, scriptedCall, scriptedRunPort } from './scripted-port.ts'

export const kinds = {
  safe: { isSafe: true },
  unsafe: {},
  asking: { isSafe: true, needsAsking: true },
  cancel: { isSafe: true, yieldsToInterrupt: true },
  held: { isHeld: true },
  answered: { isAnswered: true, unread: 2 },
} satisfies Record<string, Omit<ScriptedCallOptions, 'id'>>

export type Move =
  | { type: 'add'; kind: keyof typeof kinds }
  | {
      type: 'release' | 'withdraw' | 'settle' | 'cascade' | 'pend' | 'allow' | 'becomeUnsafe' | 'changeInput'
      index: number
    }
  | { type: 'interrupt' | 'abort' | 'sibling' | 'fallback' | 'take' | 'cut' | 'grace' }
  | { type: 'addNamed' | 'addFree' | 'nameFirst' }

const settle: CallEvent = { type: 'tool.settled', end: 'returned', willRetry: false, needsFormatting: false }
const cascade: CallEvent[] = [
  { type: 'tool.settled', end: 'failed', willRetry: false, needsFormatting: true },
  { type: 'result.formatted', cancelsSiblings: true, description: 'Bash' },
]
const toCall = {
  settle: [settle],
  cascade,
  pend: [{ type: 'permission.pending' }],
  allow: [{ type: 'permission.allowed', change: undefined }],
  changeInput: [{ type: 'permission.allowed', change: { isSafe: true, keys: undefined } }],
  becomeUnsafe: [{ type: 'permission.allowed', change: { isSafe: false, keys: undefined } }],
} satisfies Record<string, CallEvent[]>

const toExecutor = {
  interrupt: { type: 'abort.userInterrupted', reason: 'interrupt' },
  abort: { type: 'abort.userInterrupted', reason: 'escape' },
  sibling: { type: 'abort.siblingError' },
  fallback: { type: 'abort.streamingFallback' },
  take: { type: 'results.take' },
  cut: { type: 'calls.withdraw', because: 'cut off' },
} as const

const executorTable = once(() => compileChart(executorChart()))

/** Both production charts, played from the start: the executor with real call actors; only the bodies are scripted. */
export class ReplayedRun {
  readonly run: ExecutorSchedule
  readonly port: ScriptedRunPort = scriptedRunPort()
  readonly steps: unknown[][]
  readonly #actor
  #added = 0

  constructor(story: readonly Move[], taken?: TakenTransitions, logic: ExecutorMachine = executorTable()) {
    this.run = new ExecutorSchedule(2, this.port)
    this.#actor = createActor(logic, { id: 'executor', input: { run: this.run } })
    taken?.watch(this.#actor.system as never)
    this.steps = recordSteps(this.#actor.system as never)
    this.#actor.start()
    for (const move of story) this.play(move)
  }

  play(move: Move): void {
    if (move.type === 'add') {
      const call = scriptedCall({ id: `c${this.#added++}`, ...kinds[move.kind] })
      this.#actor.send({ type: 'call.add', call })
    } else if (move.type === 'addNamed') {
      const call = scriptedCall({ id: `c${this.#added++}`, isSafe: true })
      this.#actor.send({ type: 'call.add', call, cause: { kind: 'sibling_error', reason: 'sibling_error' } })
    } else if (move.type === 'addFree') {
      const options = { isSafe: true, needsAsking: true, mustQueueAgain: () => false }
      this.#actor.send({ type: 'call.add', call: scriptedCall({ id: `c${this.#added++}`, ...options }) })
    } else if (move.type === 'nameFirst') {
      this.#actor.send({ type: 'abort.siblings', description: 'Bash', siblings: ['c0'] })
    } else if (move.type === 'grace') this.#endGrace()
    else if (!('index' in move)) this.#actor.send(toExecutor[move.type])
    else {
      const call = this.run.calls[move.index]
      if (call === undefined) return
      if (move.type === 'release') this.#actor.send({ type: 'call.release', call })
      else if (move.type === 'withdraw') this.#actor.send({ type: 'call.withdraw', call, because: 'cut off' })
      else for (const event of toCall[move.type]) if (isActive(call)) call.ref?.send(event)
    }
  }

  #endGrace(): void {
    for (const call of this.run.calls) if (isActive(call)) call.ref?.send({ type: 'call.graceEnded' })
  }

  /** All state that can affect what happens next. */
  get view() {
    const { value, context } = this.#actor.getSnapshot()
    const calls = this.run.calls.map((call) => {
      const snapshot = call.ref?.getSnapshot()
      return [
        call.stage,
        call.isSafe,
        this.run.paused.has(call),
        call.port.needsAsking,
        call.yieldsToInterrupt,
        call.port.unread,
        snapshot?.value,
        snapshot?.context.cause?.kind,
      ]
    })
    return { value, cause: context.cause?.kind, cursor: this.run.cursor, calls }
  }

  get gate(): string {
    return (this.#actor.getSnapshot().value as { gate: string }).gate
  }

  get state(): string {
    return (this.#actor.getSnapshot().value as { run: string }).run
  }
}

const isActive = (call: CallRecord): boolean => call.ref?.getSnapshot().status === 'active'
