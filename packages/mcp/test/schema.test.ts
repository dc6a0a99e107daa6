import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { checkValue } from '../src/schema/check-value.ts'

const verdict = (schema: unknown, value: unknown): string => checkValue(schema, value).verdict

const json = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom(null, true, false, 0, 1, 2.5, -3, '', 'a', 'abc', '😀'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }),
  ),
})).value

const schemas = fc.letrec((tie) => {
  const list = fc.array(tie('schema'), { minLength: 1, maxLength: 3 })
  const types = fc.constantFrom('string', 'number', 'integer', 'boolean', 'null', 'array', 'object')
  const key = fc.constantFrom('a', 'b', 'c')
  const small = fc.nat({ max: 3 })
  return {
    schema: fc.oneof(
      { depthSize: 'small' },
      fc.boolean(),
      fc.record({ type: fc.oneof(types, fc.uniqueArray(types, { minLength: 1, maxLength: 2 })) }),
      fc.record({
        enum: fc.uniqueArray(json, {
          minLength: 1,
          maxLength: 3,
          comparator: (a, b) => JSON.stringify(a) === JSON.stringify(b),
        }),
      }),
      fc.record({ const: json }),
      fc.record({ minimum: small, exclusiveMaximum: small, multipleOf: fc.constantFrom(1, 2) }, { requiredKeys: [] }),
      fc.record({ minLength: small, maxLength: small }, { requiredKeys: [] }),
      fc.record(
        { items: tie('schema'), minItems: small, uniqueItems: fc.boolean(), contains: tie('schema') },
        { requiredKeys: [] },
      ),
      fc.record({ prefixItems: list, items: tie('schema') }),
      fc.record(
        {
          properties: fc.dictionary(key, tie('schema'), { maxKeys: 2 }),
          required: fc.uniqueArray(key, { maxLength: 2 }),
          additionalProperties: tie('schema'),
          minProperties: small,
          propertyNames: fc.record({ maxLength: fc.constantFrom(0, 1) }),
          dependentRequired: fc.dictionary(key, fc.uniqueArray(key, { maxLength: 2 }), { maxKeys: 1 }),
        },
        { requiredKeys: [] },
      ),
      fc.record({ allOf: list, anyOf: list, oneOf: list, not: tie('schema') }, { requiredKeys: [] }),
      fc
        .tuple(tie('schema'), tie('schema'), tie('schema'))
        .map((branches) => Object.fromEntries(branches.map((each, at) => [['if', 'then', 'else'][at], each]))),
      fc.constantFrom(
        { $ref: '#/$defs/x' },
        { $ref: '#/$defs/nowhere' },
        { pattern: '^a' },
        { not: { pattern: '^a' } },
        { patternProperties: { '^a': false } },
      ),
    ),
  }
}).schema

/** Undefined if ajv cannot decide: it rejects what it cannot compile, and some compiled schemas do not run. */
function judgeOf(ajv: AjvJsonSchemaValidator, schema: object, value: unknown): string | undefined {
  try {
    return ajv.getValidator(schema as never)(value).valid ? 'fits' : 'unfit'
  } catch {
    return undefined
  }
}

describe('an untrusted schema', () => {
  it('is checked like the validator of the SDK does, wherever the result is certain', () => {
    const ajv = new AjvJsonSchemaValidator()
    const counts = { fits: 0, unfit: 0, unsure: 0 }
    fc.assert(
      fc.property(schemas, schemas, json, (inner, definition, given) => {
        // as sent over the wire: only plain objects
        const { schema, value } = JSON.parse(
          JSON.stringify({ schema: { allOf: [inner], $defs: { x: definition } }, value: given }),
        )
        const own = checkValue(schema, value).verdict
        counts[own]++
        if (own === 'unsure') return
        expect(judgeOf(ajv, schema, value) ?? own).toBe(own)
      }),
      { numRuns: process.env.SIGNALBOX_FULL === '1' ? 10_000 : 300 },
    )
    expect(Math.min(counts.fits, counts.unfit)).toBeGreaterThan(20)
  })

  it.each([
    ['refers to itself', { $ref: '#' }, 'unsure'],
    ['refers in a ring', { $ref: '#/a', a: { $ref: '#/b' }, b: { $ref: '#/a' } }, 'unsure'],
    ['refers to elsewhere', { $ref: 'https://evil.example/schema' }, 'unsure'],
    ['has a pattern that never ends', { pattern: '^(a+)+$' }, 'unsure'],
    ['has odd keywords', { required: 'a', enum: 7, minLength: 'x', anyOf: {}, properties: [] }, 'unsure'],
    ['is no schema', 42, 'unsure'],
    ['lives elsewhere inside', { allOf: [{ $id: 'other', $ref: '#/x' }] }, 'unsure'],
    ['is of a prototype', { properties: { __proto__: null, constructor: { type: 'string' } } }, 'fits'],
  ])('that %s is checked in bounded time', (_what, schema, expected) => {
    expect(verdict(schema, `${'a'.repeat(40)}!`)).toBe(expected)
  })

  it('that grows exponentially is checked in bounded time', () => {
    const steps = Array.from({ length: 40 }, (_, n) => [
      `d${n}`,
      { anyOf: [{ $ref: `#/$defs/d${n + 1}` }, { $ref: `#/$defs/d${n + 1}` }] },
    ])
    const schema = { $ref: '#/$defs/d0', $defs: { ...Object.fromEntries(steps), d40: { type: 'number' } } }
    expect(verdict(schema, 'x')).toBe('unsure')
  })

  it('reports each problem with its path', () => {
    const schema = {
      type: 'object',
      properties: {
        to: {
          anyOf: [{ type: 'null' }, { type: 'object', properties: { name: { type: 'string' } }, required: ['name'] }],
        },
      },
      additionalProperties: false,
    }
    expect(checkValue(schema, { to: {}, from: 1 })).toEqual({
      verdict: 'unfit',
      issues: [
        { path: ['to', 'name'], code: 'invalid_type', expected: 'string' },
        { path: [], code: 'unrecognized_keys', keys: ['from'] },
      ],
    })
  })
})
