import type { HookEvent } from '../hooks/hook.ts'
import type { HookReply } from '../hooks/hook-reply.ts'
import { createAttachmentMessage, createStopHookSummary, createSystemMessage } from '../messages/create-messages.ts'
import type { IdsAndTime } from '../messages/ids-and-time.ts'
import type { Attachment, Message } from '../messages/message.ts'
import type { HookOutcome } from './run-hooks.ts'

/** If all hooks of a call together take longer, the user is told. */
const slowHooksMs = 500

type Draft =
  | { readonly kind: 'attachment'; readonly attachment: Attachment }
  | { readonly kind: 'system'; readonly fields: { subtype: string; [key: string]: unknown } }

/**
 * The additional messages of a call: what its hooks did, and changes of its input. Stored as drafts, so that they can be
 * recorded inside a chart's action and get their ids and times later.
 */
export class CallTrail {
  readonly #drafts: Draft[] = []
  readonly #hooks: { command: string; durationMs?: number }[] = []
  readonly #errors: string[] = []
  /** Hooks of one event run in parallel: together they take as long as the longest. */
  readonly #elapsed: { [Event in HookEvent]?: number } = {}
  #stop: { readonly reason: string | undefined } | undefined

  /** The number of messages that it will produce. */
  get length(): number {
    return this.#drafts.length + (this.#hooks.length > 0 ? 1 : 0)
  }

  attach(attachment: Attachment): void {
    this.#drafts.push({ kind: 'attachment', attachment })
  }

  /** For the host; the model never gets it. */
  note(fields: { subtype: string; [key: string]: unknown }): void {
    this.#drafts.push({ kind: 'system', fields })
  }

  /** Records what one hook did, other than changing the call itself. */
  addHook(event: HookEvent, outcome: HookOutcome, toolUseID: string): void {
    const { hook, durationMs } = outcome
    this.#hooks.push(durationMs === undefined ? { command: hook.name } : { command: hook.name, durationMs })
    this.#elapsed[event] = Math.max(this.#elapsed[event] ?? 0, durationMs ?? 0)
    if (outcome.status === 'said' && saysNothing(outcome.word)) return
    const origin = { hookEvent: event, hookName: hook.name }
    if (outcome.status === 'cancelled') return this.attach({ type: 'hook_cancelled', ...origin })
    if (outcome.status === 'failed') {
      this.#errors.push(`${hook.name}: ${outcome.problem}`)
      return this.attach({ type: 'hook_error_during_execution', content: outcome.problem, ...origin })
    }
    const { additionalContext, systemMessage, stops } = outcome.word
    if (additionalContext !== undefined) {
      this.attach({ type: 'hook_additional_context', content: additionalContext, ...origin })
    }
    if (systemMessage !== undefined) {
      this.note({ subtype: 'hook_message', content: systemMessage, toolUseID, ...origin })
    }
    if (stops !== undefined) {
      this.#stop ??= stops
      this.attach({ type: 'hook_stopped_continuation', content: stops.reason ?? 'A hook ended the query.', ...origin })
    }
  }

  messages(toolUseID: string, idsAndTime: IdsAndTime): Message[] {
    const messages = this.#drafts.map(
      (draft): Message =>
        draft.kind === 'attachment'
          ? createAttachmentMessage(draft.attachment, toolUseID, idsAndTime)
          : createSystemMessage(draft.fields, idsAndTime),
    )
    if (this.#hooks.length > 0) messages.push(this.#summary(toolUseID, idsAndTime))
    return messages
  }

  #summary(toolUseID: string, idsAndTime: IdsAndTime): Message {
    const totalDurationMs = Object.values(this.#elapsed).reduce((sum, ms) => sum + ms, 0)
    const summary = createStopHookSummary(
      {
        hookInfos: this.#hooks,
        hookErrors: this.#errors,
        preventedContinuation: this.#stop !== undefined,
        stopReason: this.#stop?.reason,
      },
      idsAndTime,
    )
    return Object.assign(summary, { toolUseID, totalDurationMs, isSlow: totalDurationMs > slowHooksMs })
  }
}

const saysNothing = ({ additionalContext, systemMessage, stops }: HookReply): boolean =>
  additionalContext === undefined && systemMessage === undefined && stops === undefined
