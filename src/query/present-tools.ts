import type { AnyTool } from '../tool/tool.ts'
import { ToolBox } from '../tool/tool-box.ts'
import { type ToolSchema, toolSchemas } from '../tool/tool-schemas.ts'
import type { QueryOptions } from './options.ts'

/** The tools of a query as they are now: what the model hears of is what the executor of that attempt has. */
export class PresentTools {
  readonly #given: QueryOptions['tools']
  #tools: readonly AnyTool[]
  #box: ToolBox
  #schemas: readonly ToolSchema[]

  /** Throws at what cannot be used: it is the host's to hear of, where it was written. */
  constructor(given: QueryOptions['tools']) {
    this.#given = given
    this.#tools = this.#ask()
    this.#box = new ToolBox(this.#tools)
    this.#schemas = toolSchemas(this.#tools)
  }

  get schemas(): readonly ToolSchema[] {
    return this.#schemas
  }

  find(name: string): AnyTool | undefined {
    return this.#box.find(name)
  }

  /** Looks anew. In the middle of a query, tools that cannot be used change nothing. */
  look(check: (tools: readonly AnyTool[]) => void): readonly AnyTool[] {
    try {
      const tools = this.#ask()
      if (tools.length !== this.#tools.length || tools.some((tool, at) => tool !== this.#tools[at])) {
        const box = new ToolBox(tools)
        check(tools)
        this.#schemas = toolSchemas(tools)
        this.#box = box
        this.#tools = tools
      }
    } catch {
      // the last ones still work
    }
    return this.#tools
  }

  #ask(): readonly AnyTool[] {
    const tools = typeof this.#given === 'function' ? this.#given() : this.#given
    // its own copy: a list may change while it is in use
    return Array.isArray(tools) ? [...tools] : tools
  }
}
