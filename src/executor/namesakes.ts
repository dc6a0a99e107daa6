import { readField } from '../errors/read-field.ts'
import type { ToolUseBlock } from '../messages/message.ts'
import { isSameInput } from '../pipeline/same-input.ts'
import type { ToolCall } from '../pipeline/tool-call.ts'

interface Known {
  readonly block: ToolUseBlock
  readonly call: ToolCall
}

/** The calls that came under one id: nearly always one, but ids may clash many times. */
export class Namesakes {
  readonly #first: Known
  /** By what can be told apart at a glance, once there is a second one. */
  #byGlance: Map<string, Known[]> | undefined

  constructor(block: ToolUseBlock, call: ToolCall) {
    this.#first = { block, call }
  }

  findSame(block: ToolUseBlock): ToolCall | undefined {
    const alike = this.#glances().get(glance(block))
    return alike?.find((known) => isSameInput(known.block.input, block.input))?.call
  }

  /** The one that kept the id. */
  find(id: string): ToolCall | undefined {
    if (this.#first.call.id === id) return this.#first.call
    for (const alike of this.#byGlance?.values() ?? []) {
      const found = alike.find(({ call }) => call.id === id)
      if (found !== undefined) return found.call
    }
    return undefined
  }

  add(block: ToolUseBlock, call: ToolCall): void {
    const key = glance(block)
    const alike = this.#glances().get(key)
    if (alike === undefined) this.#glances().set(key, [{ block, call }])
    else alike.push({ block, call })
  }

  #glances(): Map<string, Known[]> {
    this.#byGlance ??= new Map([[glance(this.#first.block), [this.#first]]])
    return this.#byGlance
  }
}

/** What a look at name and upper fields shows, key order aside. Equal calls look equal; most others do not. */
function glance({ name, input }: ToolUseBlock): string {
  if (typeof input !== 'object' || input === null) return `${name} ${String(input).slice(0, 64)}`
  const keys = Object.keys(input).slice(0, 1_000).sort().slice(0, 20)
  return `${name} ${keys.map((key) => `${key}=${glimpse(readField(input, key))}`).join()}`
}

const glimpse = (value: unknown): string => (typeof value === 'object' ? '{}' : String(value).slice(0, 64))
