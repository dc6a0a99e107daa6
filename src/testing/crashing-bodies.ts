import { isReadOnly } from '../pipeline/classify-call.ts'
import type { AnyTool, ToolResult } from '../tool/tool.ts'

export interface CrashingBody {
  /** The reply and the call. */
  readonly key: string
  readonly onlyReads: boolean
  starts: number
  state: 'running' | 'finished' | 'failed' | 'gone'
  settle: { resolve: (result: ToolResult) => void; reject: (error: unknown) => void }
}

/** Bodies that end when the story says so, and that are gone after a crash. */
export class CrashingBodies {
  readonly byKey = new Map<string, CrashingBody>()
  readonly tools: readonly AnyTool[]
  readonly #onStart: (body: CrashingBody) => void

  constructor(tools: readonly AnyTool[], onStart: (body: CrashingBody) => void) {
    this.#onStart = onStart
    this.tools = tools.map((tool) => ({
      ...tool,
      call: (input, { toolUseID }, _canUseTool, { message }) =>
        this.#begin(`${message.id} ${toolUseID}`, isReadOnly(tool, input)),
    }))
  }

  get running(): CrashingBody[] {
    return [...this.byKey.values()].filter(({ state }) => state === 'running')
  }

  crash(): void {
    for (const body of this.running) body.state = 'gone'
  }

  #begin(key: string, onlyReads: boolean): Promise<ToolResult> {
    return new Promise((resolve, reject) => {
      const body = this.byKey.get(key) ?? { key, onlyReads, starts: 0, state: 'running', settle: { resolve, reject } }
      body.starts++
      body.state = 'running'
      body.settle = { resolve, reject }
      this.byKey.set(key, body)
      this.#onStart(body)
    })
  }
}
