import { describeError } from '../base/describe-error.ts'
import { SignalboxError } from '../base/signalbox-error.ts'
import type { AnyTool, JSONObjectSchema } from './tool.ts'
import { ToolBox } from './tool-box.ts'

/** A tool as the Messages API wants to hear of it. */
export interface ToolSchema {
  name: string
  description?: string
  input_schema: JSONObjectSchema
}

/**
 * The tools in the form of the Messages API, each with the JSON Schema of what a model has to send.
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

/** As text, so that everybody gets one of their own: working a schema out costs far more than reading it. */
const known = new WeakMap<object, string>()

/** Of the input side: a model sends what goes into a transform, not what comes out. */
function jsonSchemaOf({ name, inputSchema }: AnyTool): ToolSchema['input_schema'] {
  const text = known.get(inputSchema)
  if (text !== undefined) return JSON.parse(text)
  // asked of the schema itself, so that whoever needs no schema does not load zod, and each is read by its own zod
  if (typeof inputSchema.toJSONSchema !== 'function') {
    const message = `The inputSchema of ${name} cannot tell its JSON Schema. Make it with zod 4.2 or newer, or give the tool an inputJSONSchema.`
    throw new SignalboxError('invalid_tool', message)
  }
  try {
    const { $schema, ...schema } = inputSchema.toJSONSchema({ io: 'input' })
    known.set(inputSchema, JSON.stringify({ ...schema, type: 'object' }))
    return { ...schema, type: 'object' }
  } catch (error) {
    throw new SignalboxError(
      'invalid_tool',
      `The inputSchema of ${name} has a part that JSON Schema cannot express. ${describeError(error)}`,
      { cause: error },
    )
  }
}
