import { describeError } from '../base/describe-error.ts'
import { SignalboxError } from '../base/signalbox-error.ts'
import type { AnyTool, JSONObjectSchema } from './tool.ts'
import { ToolBox } from './tool-box.ts'

/** A tool in the form of the Messages API. */
export interface ToolSchema {
  name: string
  description?: string
  input_schema: JSONObjectSchema
}

/**
 * The tools in the form of the Messages API, each with the JSON Schema of its input.
 *
 * @example
 * await client.messages.create({ model, messages, tools: toolSchemas(tools) })
 */
export function toolSchemas(tools: readonly AnyTool[]): ToolSchema[] {
  new ToolBox(tools)
  return tools.map((tool) => ({
    name: tool.name,
    ...(tool.description !== undefined && { description: tool.description }),
    input_schema: tool.inputJSONSchema ?? jsonSchemaOf(tool),
  }))
}

/** Cached as text, so that each caller gets its own copy: creating a schema costs far more than parsing one. */
const known = new WeakMap<object, string>()

/** The schema of the input side: a model sends the value before a transform, not after it. */
function jsonSchemaOf({ name, inputSchema }: AnyTool): ToolSchema['input_schema'] {
  const text = known.get(inputSchema)
  if (text !== undefined) return JSON.parse(text)
  // the schema's own method: callers without schemas do not load zod, and each schema is read by its own version of zod
  if (typeof inputSchema.toJSONSchema !== 'function') {
    const message = `The inputSchema of ${name} cannot be converted to JSON Schema. Create it with zod 4.2 or newer, or give the tool an inputJSONSchema.`
    throw new SignalboxError('invalid_tool', message)
  }
  try {
    const { $schema, ...schema } = inputSchema.toJSONSchema({ io: 'input' })
    known.set(inputSchema, JSON.stringify({ ...schema, type: 'object' }))
    return { ...schema, type: 'object' }
  } catch (error) {
    throw new SignalboxError(
      'invalid_tool',
      `The inputSchema of ${name} cannot be converted to JSON Schema: ${describeError(error)} Change that part, or give the tool an inputJSONSchema.`,
      { cause: error },
    )
  }
}
