import type { AnyActorRef } from 'xstate'
import { type CallRecord, ExecutorSchedule, laneOf, type ResourceKeys } from '../../../machines/index.ts'
import type { ToolCall } from '../../pipeline/tool-call.ts'
import { describeWhole, longLabel, shortLabel } from '../../tool/describe-call.ts'
import type { Encoded } from '../frames/encode-value.ts'
import type { FrameBody } from '../frames/frame.ts'
import { hiddenText, type Redaction, type Show } from '../frames/redact.ts'
import type { NameOfActor } from './xstate-view.ts'

/** The known calls of a run, and their labels. */
export class CallFrames {
  readonly #show: Show
  readonly #redaction: Redaction
  readonly #nameOf: NameOfActor
  readonly #maxText: number | undefined
  readonly #known = new Map<string, { name: string; label: string }>()
  #unlabelled: ToolCall[] = []

  constructor(show: Show, redaction: Redaction, nameOf: NameOfActor, maxText: number | undefined) {
    this.#show = show
    this.#redaction = redaction
    this.#nameOf = nameOf
    this.#maxText = maxText
  }

  has({ id }: CallRecord): boolean {
    return this.#known.has(id)
  }

  whereabouts(id: string): ReturnType<typeof whereabouts> {
    const known = this.#known.get(id)
    return known === undefined ? { toolUseID: id } : { toolUseID: id, toolName: known.name }
  }

  frameOf(call: ToolCall): FrameBody {
    const where = whereabouts(call)
    this.#redaction.meet(call.id, call.name)
    return {
      type: 'call',
      call: call.id,
      actor: call.ref === undefined ? '' : this.#nameOf(call.ref as AnyActorRef),
      index: call.index,
      name: call.name,
      label: this.#known.get(call.id)?.label ?? this.#firstLabel(call),
      input: this.#show(call.block?.input, { what: 'input', ...where }),
      lane: laneOf(call),
      ...(call.keys !== undefined && { keys: this.keysOf(call.keys, call) }),
      stopsAtInterrupt: call.yieldsToInterrupt,
      stage: call.stage,
    }
  }

  /** A key is made of the input, so it is hidden with the input. */
  keyOf(key: string, call: CallRecord): string {
    const where = whereabouts(call)
    const { input } = (call as ToolCall).block ?? {}
    const isHidden = this.#redaction.hide(input, { what: 'input', ...where }) !== input
    return isHidden ? hiddenText : asText(this.#show(key, { what: 'key', ...where }))
  }

  keysOf({ reads, writes }: ResourceKeys, call: CallRecord): ResourceKeys {
    const shown = (key: string): string => this.keyOf(key, call)
    return { reads: reads.map(shown), writes: writes.map(shown) }
  }

  /** Asks tools to describe their calls. That is user code, so it runs between steps. */
  askForLabels(): FrameBody[] {
    return this.#unlabelled.splice(0).flatMap((call) => {
      const label = this.#labelOf(call, call.tool, call.wholeDescription)
      if (label === this.#known.get(call.id)?.label) return []
      this.#known.set(call.id, { name: call.name, label })
      return [this.frameOf(call)]
    })
  }

  #firstLabel(call: ToolCall): string {
    const label = this.#labelOf(call, undefined, describeWhole(undefined, call.name, call.block?.input))
    this.#known.set(call.id, { name: call.name, label })
    if (call.tool?.describe !== undefined) this.#unlabelled.push(call)
    return label
  }

  /** Made from the input as it is shown: a label must not tell what `redact` hides. It sees the whole text, uncut. */
  #labelOf(call: ToolCall, tool: ToolCall['tool'], description: string): string {
    const { name, block } = call
    const where = whereabouts(call)
    const input = this.#redaction.hide(block?.input, { what: 'input', ...where })
    // a tool can describe only inputs of its own shape
    const describing = typeof input === 'object' ? tool : undefined
    const whole = input === block?.input ? description : describeWhole(describing, name, input)
    const shown = this.#redaction.hide(whole, { what: 'label', ...where })
    const text = typeof shown === 'string' ? this.#redaction.derived.clean(shown) : hiddenText
    // texts of the library have the short one
    this.#redaction.derived.add(shortLabel(name, description), shortLabel(name, text))
    const label = longLabel(name, text, this.#maxText)
    if (input !== block?.input) this.#redaction.conceal(call, label)
    return label
  }
}

export function whereabouts(call: CallRecord | undefined): { toolName?: string; toolUseID?: string } {
  return call === undefined ? {} : { toolName: call.name, toolUseID: call.id }
}

/** Duck-typed: `instanceof` would pull the whole pipeline into the page, which never runs a tool. */
const isCall = (value: object): value is CallRecord =>
  'yieldsToInterrupt' in value && 'stage' in value && 'port' in value && 'id' in value && typeof value.id === 'string'

/** Objects that have their own frames appear as references in other frames. */
export const standIn =
  (nameOf: NameOfActor) =>
  (value: object): Encoded | undefined => {
    if (value instanceof ExecutorSchedule) return { $: 'schedule' }
    if (isCall(value)) return { $: 'call', id: value.id }
    const isActor = 'sessionId' in value && 'send' in value && typeof value.send === 'function'
    return isActor ? { $: 'actor', id: nameOf(value as AnyActorRef) } : undefined
  }

/** The redacted value if it is text; other values are not shown. */
export function asText(encoded: Encoded): string {
  if (typeof encoded === 'string') return encoded
  const text = typeof encoded === 'object' && encoded !== null && 'text' in encoded ? encoded.text : undefined
  return typeof text === 'string' ? `${text}…` : hiddenText
}
