import type { z } from 'zod'
import type { Tool } from './tool.ts'

/**
 * Returns its argument. It is there for the types: the schema decides what `call`, `isConcurrencySafe` and
 * `describe` see, and what `call` returns decides what `mapResult` sees.
 *
 * @example
 * const read = defineTool({
 *   name: 'Read',
 *   inputSchema: z.object({ file_path: z.string() }),
 *   isConcurrencySafe: () => true,
 *   call: async ({ file_path }) => ({ data: await load(file_path) }),
 * })
 */
export function defineTool<Schema extends z.ZodObject, Data>(
  tool: Tool<Schema, Data> & { [key: string]: unknown },
): Tool<Schema, Data> {
  return tool
}
