import { z } from 'zod'
import type {
  AnyTool,
  CanUseTool,
  OnProgress,
  PermissionAnswer,
  ToolCallContext,
  ToolResult,
  ToolUseContext,
} from '../../src/index.ts'
import type { CountedClock } from './counted-clock.ts'
import { type Answer, type CallPlan, graceMs, toolName } from './story.ts'

export interface Body {
  readonly id: string
  readonly plan: CallPlan
  /** The number of the call in its input. */
  readonly number: unknown
  readonly marks: string
  /** The number of its attempt at a reply. */
  readonly attempt: number
  settledAt: number | undefined
  toldAt: number | undefined
  finish(modifies: boolean): void
  fail(): void
  progress(): void
}

export interface Question {
  isAnswered: boolean
  answer(answer: Answer): void
}

const inputSchema = z.looseObject({ number: z.number(), size: z.number().optional() })

/** Tools and a host that act only on demand, and a record of requests to them. */
export class HeldBodies {
  readonly bodies: Body[] = []
  readonly questions: Question[] = []
  /** Violations that were observed. */
  readonly faults: string[] = []
  /** Set by the driver. */
  attempt = 0
  onStart: (body: Body) => void = () => undefined
  /** The host's immediate answer, if it has one. */
  answerAtOnce: () => Answer | undefined = () => undefined
  readonly #clock: CountedClock

  constructor(clock: CountedClock) {
    this.#clock = clock
  }

  /** Its body has not settled, and its grace period is not over. */
  isLive = ({ settledAt, toldAt }: Body): boolean =>
    settledAt === undefined && (toldAt === undefined || this.#clock.now() < toldAt + graceMs)

  readonly canUseTool: CanUseTool = (_tool, input) => {
    if (input.asks !== true) return permissionOf('allow')
    const atOnce = this.answerAtOnce()
    if (atOnce !== undefined) return permissionOf(atOnce)
    return new Promise<PermissionAnswer>((resolve) => {
      const question: Question = {
        isAnswered: false,
        answer: (answer) => {
          question.isAnswered = true
          resolve(permissionOf(answer))
        },
      }
      this.questions.push(question)
    })
  }

  toolFor(plan: CallPlan): AnyTool {
    const { safe, cancel, cascades, startWhen } = plan
    return {
      name: toolName(plan),
      inputSchema,
      isConcurrencySafe: () => safe,
      // safe tools change nothing here
      isReadOnly: () => safe,
      interruptBehavior: () => (cancel ? 'cancel' : 'block'),
      cancelsSiblingsOnError: cascades,
      ...(startWhen !== 'default' && { startWhen }),
      call: (input: { number?: unknown }, context: ToolCallContext, _canUse, _message, onProgress: OnProgress) =>
        this.#begin(plan, input.number, context, onProgress),
    }
  }

  #begin(plan: CallPlan, number: unknown, context: ToolCallContext, report: OnProgress): Promise<ToolResult> {
    const id = context.toolUseID
    const { signal } = context.abortController
    return new Promise((resolve, reject) => {
      const settle = (then: () => void): void => {
        body.settledAt ??= this.#clock.now()
        then()
      }
      const body: Body = {
        id,
        plan,
        number,
        marks: String(context.marks),
        attempt: this.attempt,
        settledAt: undefined,
        toldAt: undefined,
        finish: (modifies) =>
          settle(() => resolve({ data: 'done', ...(modifies && { contextModifier: mark(number) }) })),
        fail: () => settle(() => reject(new Error('broke'))),
        progress: () => report({ toolUseID: id, data: 'on its way' }),
      }
      this.#note(body)
      if (signal.aborted) this.faults.push(`body ${id} began with an aborted signal`)
      signal.addEventListener('abort', () => {
        body.toldAt ??= this.#clock.now()
        if (plan.obedient) settle(() => reject(signal.reason))
      })
      if (plan.instant) body.finish(false)
    })
  }

  #note(body: Body): void {
    const others = this.bodies.filter(this.isLive)
    for (const other of others) {
      if (!body.plan.safe || !other.plan.safe) this.faults.push(`${body.id} began while ${other.id} ran`)
    }
    if (this.bodies.some(({ id, attempt }) => id === body.id && attempt === body.attempt)) {
      this.faults.push(`${body.id} ran twice in one attempt`)
    }
    this.bodies.push(body)
    this.onStart(body)
  }
}

const permissionOf = (answer: Answer): PermissionAnswer =>
  answer === 'allow'
    ? { behavior: 'allow' }
    : { behavior: 'deny', message: 'the host says no', interrupt: answer === 'deny and stop' }

const mark =
  (number: unknown) =>
  (context: ToolUseContext): ToolUseContext => ({
    ...context,
    marks: `${context.marks}+${number}`,
  })
