import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { parseSync } from 'vite'
import { expect, it } from 'vitest'
import { root } from '../support/imports.ts'

type Node = { readonly type: string; readonly start: number; readonly [key: string]: unknown }

const functions = new Set(['ArrowFunctionExpression', 'FunctionExpression'])
/** For V8, there is nothing around the function. */
const wrappers = new Set(['ParenthesizedExpression', 'TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression'])
const unwrapped = (node: Node | undefined): Node | undefined =>
  wrappers.has(node?.type ?? '') ? unwrapped((node as Node & { expression: Node }).expression) : node

/** The lines in which a function is created as the right side of an assignment to a property. */
function assignedFunctions(text: string): number[] {
  const found: number[] = []
  const visit = (value: unknown): void => {
    if (Array.isArray(value)) return value.forEach(visit)
    if (typeof value !== 'object' || value === null) return
    const { type, left, right, start } = value as Node & { left?: Node; right?: Node }
    const isProperty = unwrapped(left)?.type === 'MemberExpression'
    if (type === 'AssignmentExpression' && isProperty && functions.has(unwrapped(right)?.type ?? '')) {
      found.push(text.slice(0, start).split('\n').length)
    }
    Object.values(value).forEach(visit)
  }
  visit(parseSync('source.ts', text).program)
  return found
}

it('finds them', () => {
  const text = `class A { #f = () => 1; constructor() { const g = () => 2; this.g = g\nthis.h = () => 3 } }`
  expect(assignedFunctions(text)).toEqual([2])
  const wrapped = [
    'o.f = (() => 1) as F',
    'o.f ??= (() => 1)',
    '(o.f as F) = (function () {}) satisfies F',
    'o.f = g()',
  ]
  expect(wrapped.map((each) => assignedFunctions(each).length)).toEqual([1, 1, 1, 0])
})

// V8 allocates such functions among long-lived objects: all they refer to stays until the next full collection, which
// was a fifth of what turns allocate. A class field, or a constant that is then assigned, is collected as usual.
it('no function is created where it is assigned to a property', () => {
  const found = ['machines', 'src'].flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
      .filter((name) => name.endsWith('.ts'))
      .flatMap((name) =>
        assignedFunctions(readFileSync(join(root, folder, name), 'utf8')).map((line) => `${folder}/${name}:${line}`),
      ),
  )
  expect(found).toEqual([])
})
