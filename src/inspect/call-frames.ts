import type { AnyActorRef } from 'xstate'
import { type CallRecord, laneOf, RunRecord } from '../../machines/index.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'
import { describeCall } from '../tool/describe-call.ts'
import type { NameOfActor } from './actor-names.ts'
import type { Encoded } from './encode-value.ts'
import type { FrameBody } from './frame.ts'
import type { Show } from './redact.ts'

/** The calls of a run that were seen, and what they are called. */
export class CallFrames {
  readonly #show: Show
  readonly #nameOf: NameOfActor
  readonly #known = new Map<string, { name: string; label: string }>()
  #unlabelled: ToolCall[] = []

  constructor(show: Show, nameOf: NameOfActor) {
    this.#show = show
    this.#nameOf = nameOf
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
    return {
      type: 'call',
      call: call.id,
      actor: call.ref === undefined ? '' : this.#nameOf(call.ref as AnyActorRef),
      index: call.index,
      name: call.name,
      label: this.#known.get(call.id)?.label ?? this.#firstLabel(call),
      input: this.#show(call.block?.input, { what: 'input', ...where }),
      lane: laneOf(call),
      stopsAtInterrupt: call.yieldsToInterrupt,
      stage: call.stage,
    }
  }

  /** The tools' own words for their calls. They are user code, so this is for when the charts are at rest. */
  askForLabels(): FrameBody[] {
    return this.#unlabelled.splice(0).flatMap((call) => {
      const label = asText(this.#show(call.description, { what: 'label', ...whereabouts(call) }))
      if (label === this.#known.get(call.id)?.label) return []
      this.#known.set(call.id, { name: call.name, label })
      return [this.frameOf(call)]
    })
  }

  #firstLabel(call: ToolCall): string {
    const text = describeCall(undefined, call.name, call.block?.input)
    const label = asText(this.#show(text, { what: 'label', ...whereabouts(call) }))
    this.#known.set(call.id, { name: call.name, label })
    if (call.tool?.describe !== undefined) this.#unlabelled.push(call)
    return label
  }
}

export function whereabouts(call: CallRecord | undefined): { toolName?: string; toolUseID?: string } {
  return call === undefined ? {} : { toolName: call.name, toolUseID: call.id }
}

/** By its looks: the page, which never runs a tool, would have to carry the whole pipeline to know it by its class. */
const isCall = (value: object): value is CallRecord =>
  'yieldsToInterrupt' in value && 'stage' in value && 'port' in value && 'id' in value && typeof value.id === 'string'

/** What has frames of its own is only named in others. */
export const standIn =
  (nameOf: NameOfActor) =>
  (value: object): Encoded | undefined => {
    if (value instanceof RunRecord) return { $: 'books' }
    if (isCall(value)) return { $: 'call', id: value.id }
    const isActor = 'sessionId' in value && 'send' in value && typeof value.send === 'function'
    return isActor ? { $: 'actor', id: nameOf(value as AnyActorRef) } : undefined
  }

/** What passed the host's hook as text; anything else that it returned is not shown. */
export function asText(encoded: Encoded): string {
  if (typeof encoded === 'string') return encoded
  const text = typeof encoded === 'object' && encoded !== null && 'text' in encoded ? encoded.text : undefined
  return typeof text === 'string' ? `${text}…` : '(withheld)'
}
