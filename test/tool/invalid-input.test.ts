import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { resultOf, testTurn } from '../support/turn.ts'

/** The text for the model about an input. */
function problemWith(inputSchema: z.ZodObject, input: unknown): string {
  const { add, executor } = testTurn([{ name: 'T', inputSchema, call: async () => ({ data: 'ran' }) }])
  add('a', 'T', input)
  const [update] = [...executor.getCompletedResults()]
  const { content, is_error } = resultOf(update as never)
  expect(is_error).toBe(true)
  return String(content).replace(/^<tool_use_error>InputValidationError: |<\/tool_use_error>$/g, '')
}

const file = z.object({ file_path: z.string(), limit: z.number().optional(), force: z.boolean().optional() })

describe('the text for a model about an invalid input', () => {
  it.each<[string, z.ZodObject, unknown, string]>([
    ['a missing field', file, {}, '`file_path` is required (string), but is missing'],
    ['a wrong type', file, { file_path: 5 }, '`file_path`: expected string, received number 5.'],
    ['null', file, { file_path: null }, '`file_path`: expected string, received null.'],
    [
      'a number as a string',
      file,
      { file_path: 'a', limit: '5' },
      '`limit`: expected number, received string "5". Send 5 without quotes.',
    ],
    [
      'a blank string for a number',
      file,
      { file_path: 'a', limit: '  ' },
      '`limit`: expected number, received string "  ".',
    ],
    [
      'a boolean as a string',
      file,
      { file_path: 'a', force: 'True' },
      '`force`: expected boolean, received string "True". Send true without quotes.',
    ],
    [
      'a nested place',
      z.object({ edits: z.array(z.object({ line: z.number() })) }),
      { edits: [{ line: 1 }, { line: [] }] },
      '`edits[1].line`: expected number, received array [].',
    ],
    [
      'a list as a JSON string',
      z.object({ todos: z.array(z.string()) }),
      { todos: '["a"]' },
      '`todos`: expected array, received string "[\\"a\\"]". Send the array itself, not a JSON string of it.',
    ],
    [
      'an object as a JSON string',
      file,
      '{"file_path":"a"}',
      'the input: expected object, received string "{\\"file_path\\":\\"a\\"}". Send the object itself, not a JSON string of it.',
    ],
    [
      'another spelling of a key',
      file,
      { filePath: 'a' },
      '`file_path` is required (string), but is missing. You sent filePath; name it file_path.',
    ],
    [
      'a slip in a key',
      file,
      { file_pth: 'a' },
      '`file_path` is required (string), but is missing. You sent file_pth; name it file_path.',
    ],
    [
      'an unknown key',
      z.strictObject({ pattern: z.string() }),
      { pattern: 'a', patern: 'b' },
      'the input has an unknown key: patern (did you mean pattern?)',
    ],
    [
      'unknown keys like nothing known',
      z.strictObject({ pattern: z.string() }),
      { pattern: 'a', x: 1, y: 2 },
      'the input has unknown keys: x, y',
    ],
    [
      'a list without its wrapper',
      z.object({ todos: z.array(z.string()) }),
      ['a'],
      'the input: expected object, received array ["a"]. Send { "todos": … } around it.',
    ],
    [
      'an object without its wrapper',
      z.object({ task: z.object({ title: z.string() }) }),
      { title: 'x' },
      '`task` is required (object), but is missing. Send { "task": … } around it.',
    ],
    [
      'a union',
      z.object({ n: z.union([z.number(), z.boolean()]) }),
      { n: '5' },
      '`n`: expected one of number, boolean, received string "5". Send 5 without quotes.',
    ],
    [
      'an enum',
      z.object({ mode: z.enum(['fast', 'slow']) }),
      { mode: 'quick' },
      '`mode`: expected one of "fast", "slow", received string "quick".',
    ],
    [
      'a literal',
      z.object({ n: z.literal(5) }),
      { n: '5' },
      '`n`: expected 5, received string "5". Send 5 without quotes.',
    ],
    [
      'a rule of its own',
      z.object({ n: z.number().min(3) }),
      { n: 1 },
      '`n`: Too small: expected number to be >=3, received number 1',
    ],
  ])('P2 %s', (_, schema, input, problem) => {
    expect(problemWith(schema, input)).toBe(problem)
  })

  it('P2 a long list of unknown keys is truncated', () => {
    const input = Object.fromEntries(Array.from({ length: 50_000 }, (_, n) => [`key${n}`, n]))
    expect(problemWith(z.strictObject({}), input).length).toBeLessThan(500)
  })

  it('P2 one line per problem, at most ten, and a count of the rest', () => {
    const shape = Object.fromEntries(Array.from({ length: 13 }, (_, index) => [`f${index}`, z.string()]))
    const lines = problemWith(z.object(shape), {}).trim().split('\n')
    expect(lines).toHaveLength(11)
    expect([lines[0], lines[10]]).toEqual(['- `f0` is required (string), but is missing', '- and 3 more'])
  })
})
