import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type AnyTool, defineTool, toolSchemas } from '../../src/index.ts'

const toolWith = (inputSchema: z.ZodObject): AnyTool => ({
  name: 'Read',
  inputSchema,
  call: async () => ({ data: '' }),
})

describe('schemas for the model', () => {
  it('T2 come from the Zod schema, in the form of the Messages API', () => {
    const read = defineTool({
      name: 'Read',
      description: 'Reads a file.',
      inputSchema: z.object({ file_path: z.string().describe('absolute'), limit: z.number().int().default(10) }),
      call: async () => ({ data: '' }),
    })
    expect(toolSchemas([read])).toEqual([
      {
        name: 'Read',
        description: 'Reads a file.',
        input_schema: {
          type: 'object',
          properties: {
            file_path: { type: 'string', description: 'absolute' },
            limit: { type: 'integer', default: 10, minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
          },
          required: ['file_path'],
        },
      },
    ])
  })

  it('T2 a schema that cannot be converted to JSON Schema is rejected with advice', () => {
    const old = Object.create(z.object({ a: z.string() }), { toJSONSchema: { value: undefined } })
    expect(() => toolSchemas([toolWith(old)])).toThrow(
      /inputSchema of Read cannot be converted .* zod 4\.2 .* inputJSONSchema/,
    )
  })

  it('T2 the inputJSONSchema of a tool is used word for word', () => {
    const inputJSONSchema = {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      'x-own': [1],
    } as const
    const tool = { ...toolWith(z.looseObject({})), inputJSONSchema }
    expect(toolSchemas([tool])[0]?.input_schema).toBe(inputJSONSchema)
  })

  it('T2 an inputJSONSchema that is not of type object is rejected, with the received value', () => {
    const tool = { ...toolWith(z.looseObject({})), inputJSONSchema: { type: 'string' } }
    expect(() => toolSchemas([tool as never])).toThrow(
      /tools\[0\] \(Read\): inputJSONSchema: expected .*, received .*string/,
    )
  })

  it('T2 describe the input side: the value before a transform', () => {
    const [schema] = toolSchemas([toolWith(z.object({ n: z.string().transform(Number) }))])
    expect(schema?.input_schema.properties).toEqual({ n: { type: 'string' } })
  })

  it('T2 a schema that JSON Schema cannot express is rejected with the name of its tool', () => {
    expect(() => toolSchemas([toolWith(z.object({ when: z.date() }))])).toThrow(/inputSchema of Read .*JSON Schema/)
  })

  it('T1 invalid tools are rejected here too', () => {
    expect(() => toolSchemas([{ name: '' } as AnyTool])).toThrow('tools[0]: name: expected')
    const twice = toolWith(z.object({}))
    expect(() => toolSchemas([twice, twice])).toThrow('Two tools are named "Read"')
  })
})
