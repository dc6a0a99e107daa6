import fc from 'fast-check'
import { expect, it } from 'vitest'
import { namesTool, parseRule } from '../../../src/permission/permission-rule.ts'
import { serverKey, toolNames } from '../src/tool-name.ts'

it('names are those of the server if possible', () => {
  expect([...toolNames('docs', ['search', 'get-page', 'a.b'])]).toEqual([
    ['search', 'mcp__docs__search'],
    ['get-page', 'mcp__docs__get-page'],
    ['a.b', 'mcp__docs__a_b'],
  ])
})

it('two names that would become equal are told apart, whatever their order', () => {
  const names = toolNames('s', ['a.b', 'a_b', 'a/b'])
  expect(names.get('a_b')).toBe('mcp__s__a_b')
  expect(new Set(names.values()).size).toBe(3)
  const turned = toolNames('s', ['a/b', 'a_b', 'a.b'])
  for (const [tool, name] of names) expect(turned.get(tool)).toBe(name)
})

it('for any server name, tool names are valid for every provider, unique, and matched by rules', () => {
  const odd = fc.oneof(
    fc.string(),
    fc.string({ unit: 'binary' }),
    fc.constantFrom('a__b', '__a', 'a__', '_', 'x'.repeat(300)),
  )
  fc.assert(
    fc.property(odd, fc.uniqueArray(odd, { maxLength: 20 }), (server, tools) => {
      const key = serverKey(server)
      fc.pre(key !== '')
      const names = [...toolNames(key, tools).values()]
      expect(new Set(names).size).toBe(tools.length)
      for (const name of names) {
        expect(name).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
        for (const rule of [`mcp__${key}`, `mcp__${key}__*`, name])
          expect(namesTool(parseRule(rule), [name])).toBe(true)
        expect(namesTool(parseRule(`mcp__${key}x`), [name])).toBe(false)
      }
    }),
    { numRuns: 50 },
  )
})
