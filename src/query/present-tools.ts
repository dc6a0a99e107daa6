import type { AnyTool } from '../tool/tool.ts'
import { ToolBox } from '../tool/tool-box.ts'
import { type ToolSchema, toolSchemas } from '../tool/tool-schemas.ts'
import type { QueryOptions } from './options.ts'

/** The current tools of a query: the model and the executor of an attempt get the same list. */
export class PresentTools {
  readonly #given: QueryOptions['tools']
  #tools: readonly AnyTool[]
  #box: ToolBox
  #schemas: readonly ToolSchema[]

  /** Throws for invalid tools, so that the host gets the error at its own call. */
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

  /** Reads the tools again. During a query, invalid tools change nothing. */
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
      // the previous tools still work
    }
    return this.#tools
  }

  #ask(): readonly AnyTool[] {
    const tools = typeof this.#given === 'function' ? this.#given() : this.#given
    // a copy, because the list may change while it is in use
    return Array.isArray(tools) ? [...tools] : tools
  }
}
