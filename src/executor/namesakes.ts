import { readField } from '../base/read-field.ts'
import { isSameInput } from '../base/same-input.ts'
import type { ToolUseBlock } from '../messages/message.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'

/** The calls with one id. */
export class Namesakes {
  readonly #calls: ToolCall[]
  /** Grouped by a cheap key, because ids may clash many times. */
  readonly #byGlance = new Map<string, ToolCall[]>()

  constructor(first: ToolCall) {
    this.#calls = [first]
    this.#byGlance.set(glance(first.block), [first])
  }

  add(call: ToolCall): void {
    this.#calls.push(call)
    const key = glance(call.block)
    const alike = this.#byGlance.get(key)
    if (alike === undefined) this.#byGlance.set(key, [call])
    else alike.push(call)
  }

  findSame(block: ToolUseBlock): ToolCall | undefined {
    return this.#byGlance.get(glance(block))?.find((call) => isSameInput(call.block.input, block.input))
  }

  /** The call that kept the id. */
  find(id: string): ToolCall | undefined {
    return this.#calls.find((call) => call.id === id)
  }
}

export const isSameCall = (call: ToolCall, block: ToolUseBlock): boolean =>
  glance(call.block) === glance(block) && isSameInput(call.block.input, block.input)

/** A cheap key from the name and the top-level fields, regardless of key order. Equal calls have equal keys. */
function glance({ name, input }: ToolUseBlock): string {
  if (typeof input !== 'object' || input === null) return `${name} ${String(input).slice(0, 64)}`
  const keys = Object.keys(input).slice(0, 1_000).sort().slice(0, 20)
  return `${name} ${keys.map((key) => `${key}=${glimpse(readField(input, key))}`).join()}`
}

const glimpse = (value: unknown): string => (typeof value === 'object' ? '{}' : String(value).slice(0, 64))
