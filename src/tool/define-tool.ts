import type { z } from 'zod'
import type { WithoutMisspeltKeys } from './misspelt-keys.ts'
import type { ProgressChunk, ResultChunk, Tool, ToolResult } from './tool.ts'

type WithCall<Schema extends z.ZodObject, Data, Returned> = Omit<Tool<Schema, Data>, 'call'> & {
  /**
   * Does the work: an async function that returns `{ data }`, or an async generator that yields
   * `{ type: 'progress', data }` any number of times and `{ type: 'result', data }` once.
   */
  call(...args: Parameters<Tool<Schema>['call']>): Returned
  [key: string]: unknown
}

/** The data of a result, yielded or returned; a union if there are several result types. */
type DataIn<Part> = Part extends { type: 'progress' } ? never : Part extends { data: infer Data } ? Data : never

/**
 * Returns its argument; useful for the types. The schema types the input of `call`, `isConcurrencySafe` and `describe`,
 * and the return type of `call` types the input of `mapResult`. Extra properties are kept; likely typos are type errors.
 *
 * @example
 * const read = defineTool({
 *   name: 'Read',
 *   inputSchema: z.object({ file_path: z.string() }),
 *   isConcurrencySafe: () => true,
 *   call: async ({ file_path }) => ({ data: await load(file_path) }),
 * })
 */
export function defineTool<
  Schema extends z.ZodObject,
  Result extends ToolResult = never,
  Chunk extends ProgressChunk | ResultChunk = never,
  Last extends ToolResult | void = void,
  Given = unknown,
>(
  tool: WithCall<
    Schema,
    DataIn<Result | Chunk | Last>,
    // `ToolResult` gives a `contextModifier` the type of its parameter
    Promise<Result | ToolResult> | AsyncGenerator<Chunk, Last, undefined>
  > &
    Given &
    WithoutMisspeltKeys<Given>,
): Tool<Schema, DataIn<Result | Chunk | Last>> {
  // `Tool` has the two forms of `call` as one union; here they are two type parameters
  return tool as unknown as Tool<Schema, DataIn<Result | Chunk | Last>>
}

/** An error for a tool to throw: a sentence for the model, and a label for telemetry. */
export function toolError(message: string, label: string): Error {
  return Object.assign(new Error(message), { name: 'ToolError', telemetryMessage: label })
}
