export const maxConcurrency = 10

const resultOf = (block, content) => ({ type: 'tool_result', tool_use_id: block.id, content })

/** One call for the plain engines: parsed and classified. A call with invalid input has its result already. */
export class PlainCall {
  constructor(block, tool) {
    this.block = block
    this.tool = tool
    this.state = 'queued'
    const parsed = tool.inputSchema.safeParse(block.input)
    this.input = parsed.data
    this.isSafe = parsed.success && tool.isConcurrencySafe(parsed.data)
    this.result = parsed.success ? undefined : { ...resultOf(block, parsed.error.message), is_error: true }
  }

  async run() {
    if (this.result !== undefined) return
    try {
      const { data } = await this.tool.call(this.input)
      this.result = resultOf(this.block, data)
    } catch (error) {
      this.result = { ...resultOf(this.block, String(error)), is_error: true }
    }
  }
}

export const byName = (tools) => new Map(tools.map((tool) => [tool.name, tool]))

/** Collects all results of a scheduler. */
export async function collect(iterable) {
  const results = []
  for await (const result of iterable) results.push(result)
  return results
}
