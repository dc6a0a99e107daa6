import type { Canvas } from '../view/call-lines.ts'
import { type CallView, phaseOf } from '../view/call-view.ts'
import { wrap } from '../view/fit.ts'
import type { SessionView } from '../view/session-view.ts'
import type { Key } from './keyboard.ts'

/** The hint appears when a call has run for so long. The key works before. */
const hintAfterMs = 3_000

/** The key `b`: sends the call that has run longest to the background. */
export class DetachKey {
  readonly #session: SessionView
  readonly #nameOf: (call: CallView) => string
  readonly #detach: (id: string) => boolean

  constructor(session: SessionView, nameOf: (call: CallView) => string, detach: (id: string) => boolean) {
    this.#session = session
    this.#nameOf = nameOf
    this.#detach = detach
  }

  /** True if the key was handled. */
  press({ text }: Key): boolean {
    const call = text === 'b' ? this.#longest : undefined
    return call !== undefined && this.#detach(call.id)
  }

  lines({ columns, colors, now }: Canvas): string[] {
    const call = this.#longest
    if (call === undefined || now - (call.ranAt ?? now) < hintAfterMs) return []
    const hint = `b sends ${this.#nameOf(call)} to the background: the conversation goes on, and its result comes later.`
    return ['', ...wrap(hint, columns).map((line) => colors.dim(line))]
  }

  get #longest(): CallView | undefined {
    const running = this.#session.items.filter(
      (item): item is CallView => item.kind === 'call' && phaseOf(item) === 'calling',
    )
    return running.reduce<CallView | undefined>(
      (longest, call) => ((longest?.ranAt ?? Number.POSITIVE_INFINITY) <= (call.ranAt ?? 0) ? longest : call),
      undefined,
    )
  }
}
