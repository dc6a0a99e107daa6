import { DerivedTexts } from './derived-texts.ts'
import { type Encoded, type EncodeLimits, encodeValue, type Stand } from './encode-value.ts'

/** The meaning of a value, so that `redact` can decide how to show it. */
export interface Where {
  readonly what:
    | 'input'
    | 'result'
    | 'progress'
    | 'question'
    | 'event'
    | 'context'
    | 'reason'
    | 'label'
    | 'key'
    | 'warning'
    | 'said'
    | 'rule'
    | 'worker'
  readonly toolName?: string
  readonly toolUseID?: string
  /** The server's name, if the value belongs to a connection. */
  readonly server?: string
}

/** Returns the value to show: unchanged, changed, or a replacement. */
export type Redact = (value: unknown, where: Where) => unknown

/** A value after `redact`, before it is encoded. */
export type Hide = (value: unknown, where: Where) => unknown

const withheld = Symbol('withheld')

const maxTexts = 10_000

/** Texts by id. The oldest ones are forgotten. */
class NewestTexts {
  readonly #texts = new Map<string, string>()

  get(id: string): string | undefined {
    return this.#texts.get(id)
  }

  set(id: string, text: string): void {
    this.#texts.delete(id)
    this.#texts.set(id, text)
    const [oldest] = this.#texts.keys()
    if (this.#texts.size > maxTexts && oldest !== undefined) this.#texts.delete(oldest)
  }
}

/** In the place of a text that must not be shown. */
export const hiddenText = '(withheld)'

/** For values that others are derived from: a label from an input. If `redact` throws, nothing can be derived. */
const hideWith =
  (redact: Redact | undefined): Hide =>
  (value, where) => {
    if (redact === undefined) return value
    try {
      return redact(value, where)
    } catch {
      return withheld
    }
  }

export type Show = (value: unknown, where: Where) => Encoded

/** All data from hosts and models passes through here before it is shown. One for all runs of a recorder. */
export class Redaction {
  readonly derived = new DerivedTexts()
  /** For values that others are derived from. */
  readonly hide: Hide
  readonly #redact: Redact | undefined
  /** The tools of the newest calls, by id. */
  readonly #tools = new NewestTexts()
  /** The labels of the newest calls whose input is hidden, by id. */
  readonly #concealed = new NewestTexts()

  constructor(redact: Redact | undefined) {
    this.#redact = redact
    this.hide = hideWith(redact)
  }

  /** Notes which tool a call is of, for messages that have only its id. */
  meet(toolUseID: string, toolName: string): void {
    if (this.#redact !== undefined) this.#tools.set(toolUseID, toolName)
  }

  /** Notes that the input of a call is hidden. */
  conceal(
    { id, name, tool }: { readonly id: string; readonly name: string; readonly tool?: unknown },
    label: string,
  ): void {
    this.#concealed.set(id, label)
    // the calls of a log have no tool that could describe them as the texts of the log do
    if (tool === undefined) this.derived.addTool(name)
  }

  /** The label of a call whose input is hidden. */
  labelOf(toolUseID: string | undefined): string | undefined {
    return toolUseID === undefined ? undefined : this.#concealed.get(toolUseID)
  }

  /** If `redact` throws, nothing is shown. */
  show(limits: EncodeLimits, stand?: Stand): Show {
    const redact = this.#redact
    const disguise =
      redact === undefined ? { stand } : { stand, instead: this.#withoutInput, clean: this.derived.clean }
    const encode = (value: unknown): Encoded =>
      value === withheld ? { $: 'withheld' } : encodeValue(value, limits, disguise)
    if (redact === undefined) return encode
    return (value, where) => {
      try {
        return value === withheld ? encode(value) : encode(redact(value, where))
      } catch {
        return { $: 'withheld' }
      }
    }
  }

  /** Messages, also those inside other values such as the progress of an agent, have inputs: they are redacted as such. */
  readonly #withoutInput = (value: object): object => {
    const { type, subtype, name, id, toolUseID } = value as { [key: string]: unknown }
    if (type === 'tool_use' && 'input' in value && typeof name === 'string') {
      this.meet(String(id), name)
      return { ...value, input: this.#inside(value.input, String(id)) }
    }
    if (type !== 'system' || subtype !== 'input_changed') return value
    const { before, after } = value as { before?: unknown; after?: unknown }
    return { ...value, before: this.#inside(before, String(toolUseID)), after: this.#inside(after, String(toolUseID)) }
  }

  #inside(input: unknown, toolUseID: string): unknown {
    const toolName = this.#tools.get(toolUseID)
    // `redact` could not tell
    if (toolName === undefined) return hiddenText
    const hidden = this.hide(input, { what: 'input', toolName, toolUseID })
    return hidden === withheld ? hiddenText : hidden
  }
}
