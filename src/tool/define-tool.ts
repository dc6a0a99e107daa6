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

/** The data of a result, yielded or returned. Of several shapes of results each has its own. */
type DataIn<Part> = Part extends { type: 'progress' } ? never : Part extends { data: infer Data } ? Data : never

/**
 * Returns its argument. It is there for the types: the schema decides what `call`, `isConcurrencySafe` and
 * `describe` see, and what `call` returns decides what `mapResult` sees. Keys of your own are kept; one that is nearly
 * one of ours does not compile.
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
    // the second one is what tells a `contextModifier` its parameter
    Promise<Result | ToolResult> | AsyncGenerator<Chunk, Last, undefined>
  > &
    Given &
    WithoutMisspeltKeys<Given>,
): Tool<Schema, DataIn<Result | Chunk | Last>> {
  // the two forms of `call` are one union there, and two type parameters here
  return tool as unknown as Tool<Schema, DataIn<Result | Chunk | Last>>
}
