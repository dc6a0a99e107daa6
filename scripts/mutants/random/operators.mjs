import { parseSync } from 'vite'

/** One small change of a source: the characters from `start` to `end` become `text`. */
const change = (operator, node, text) => ({ operator, start: node.start, end: node.end, text })

const comparisons = { '===': '!==', '!==': '===', '<': '<=', '<=': '<', '>': '>=', '>=': '>' }
const arithmetic = { '+': '-', '-': '+', '*': '/', '/': '*', '%': '*' }
const logical = { '&&': '||', '||': '&&' }
const assignments = { '+=': '-=', '-=': '+=', '??=': '=', '||=': '=', '&&=': '=' }
const chartParts = new Set(['guard', 'actions', 'entry', 'exit', 'always', 'target', 'on'])
const passedThrough = new Set(['filter', 'sort', 'toSorted', 'slice', 'reverse', 'toReversed', 'toWellFormed', 'trim'])
const opposite = { min: 'max', max: 'min', some: 'every', every: 'some', shift: 'pop', push: 'unshift', add: 'delete' }

/** Longer texts are sentences for people and models: nobody checks each of their words. */
const longestName = 24

/** The changes that each kind of node offers. `at` has the source, the parent, and the key under which it stands there. */
const operators = {
  IfStatement(node, { code }) {
    return [
      change('negate condition', node.test, `!(${code(node.test)})`),
      change('condition always true', node.test, 'true'),
      node.alternate === null
        ? change('drop guarded statement', node, ';')
        : change('condition always false', node.test, 'false'),
    ]
  },
  ConditionalExpression: (node, { code }) => [change('swap branches', node.test, `!(${code(node.test)})`)],
  LogicalExpression(node, { code }) {
    const { left, right, operator } = node
    const swapped = operator in logical ? [swap(node, code, logical[operator])] : []
    return [...swapped, change('keep left operand', node, code(left)), change('keep right operand', node, code(right))]
  },
  BinaryExpression(node, { code }) {
    const other = comparisons[node.operator] ?? arithmetic[node.operator]
    const changed = other === undefined ? [] : [swap(node, code, other)]
    if (['<', '<=', '>', '>=', '-', '/'].includes(node.operator)) {
      const { left, right, operator } = node
      changed.push(change('swap operands', node, `${code(right)} ${operator} ${code(left)}`))
    }
    return changed
  },
  AssignmentExpression(node, { code }) {
    const other = assignments[node.operator]
    if (other === undefined) return []
    return [change('change assignment', node, `${code(node.left)} ${other} ${code(node.right)}`)]
  },
  UpdateExpression: (node, { code }) => [
    change(
      'count the other way',
      node,
      code(node).replace(/\+\+|--/, (sign) => (sign === '++' ? '--' : '++')),
    ),
  ],
  UnaryExpression(node, { code }) {
    return node.operator === '!' || node.operator === '-' ? [change('drop sign', node, code(node.argument))] : []
  },
  ExpressionStatement: (node) => (node.directive == null ? [change('remove statement', node, ';')] : []),
  ReturnStatement(node) {
    if (node.argument === null) return [change('do not return', node, ';')]
    const isEmpty = node.argument.type === 'Identifier' && node.argument.name === 'undefined'
    return isEmpty ? [] : [change('return nothing', node.argument, 'undefined')]
  },
  ContinueStatement: (node) => [change('do not continue', node, ';')],
  BreakStatement: (node) => [change('do not break', node, ';')],
  ArrowFunctionExpression(node) {
    if (!isCondition(node.body)) return []
    return [change('answer always true', node.body, 'true'), change('answer always false', node.body, 'false')]
  },
  AwaitExpression: (node, { code, parent }) =>
    parent.type === 'ForOfStatement' ? [] : [change('do not wait', node, code(node.argument))],
  ChainExpression: (node, { code }) =>
    code(node).includes('?.') ? [change('drop optional chaining', node, code(node).replace('?.', plainAccess))] : [],
  CallExpression(node, { code }) {
    const { callee } = node
    if (callee.type !== 'MemberExpression' || callee.computed) return []
    const { name } = callee.property
    const changed = passedThrough.has(name) ? [change(`leave out ${name}`, node, code(callee.object))] : []
    if (name in opposite) changed.push(change(`${name} becomes ${opposite[name]}`, callee.property, opposite[name]))
    return changed
  },
  Literal(node, { parent, key }) {
    if (typeof node.value === 'boolean') return [change('flip constant', node, String(!node.value))]
    if (typeof node.value === 'number') return [change('add one to constant', node, String(node.value + 1))]
    const isName = key === 'key' || key === 'source' || parent.type === 'ImportExpression'
    if (typeof node.value !== 'string' || isName || node.value.length > longestName) return []
    return [change('change name', node, node.value === '' ? "'mutant'" : "''")]
  },
  SpreadElement: (node) => [change('drop spread', node, spreadOf(node))],
  Property(node, { file, key }) {
    const isChartPart = file.startsWith('machines/') && key === 'properties' && chartParts.has(node.key.name)
    return isChartPart ? [change(`drop ${node.key.name} of the chart`, node, '...{}')] : []
  },
  ArrayExpression(node, { file }) {
    if (!file.startsWith('machines/')) return []
    return node.elements.flatMap((each) => (each === null ? [] : [change('drop element of the chart', each, '...[]')]))
  },
}

const swap = (node, code, operator) =>
  change(`${node.operator} becomes ${operator}`, node, `${code(node.left)} ${operator} ${code(node.right)}`)

const isCondition = ({ type, operator }) =>
  (type === 'BinaryExpression' && operator in comparisons) ||
  type === 'LogicalExpression' ||
  (type === 'UnaryExpression' && operator === '!')

const plainAccess = (_found, at, text) => ('[('.includes(text[at + 2]) ? '' : '.')

const spreadOf = ({ argument }) =>
  argument.type === 'ArrayExpression' || argument.type === 'CallExpression' ? '...[]' : '...{}'

/** Types do not run: nothing in them can be a fault. */
const isType = ({ type }) =>
  type.startsWith('TS') && !['TSAsExpression', 'TSSatisfiesExpression', 'TSNonNullExpression'].includes(type)

/** Every change of a source that the operators offer, in the order of the source. */
export function mutationsOf(file, source) {
  const { program, errors } = parseSync(file, source)
  if (errors.length > 0) throw new Error(`${file}: ${errors[0].message}`)
  const code = ({ start, end }) => source.slice(start, end)
  const found = []
  const visit = (node, parent, key) => {
    if (isType(node) || node.type === 'ImportDeclaration') return
    found.push(...(operators[node.type]?.(node, { code, parent, key, file }) ?? []))
    for (const [name, value] of Object.entries(node)) {
      for (const child of Array.isArray(value) ? value : [value]) {
        if (typeof child?.type === 'string') visit(child, node, name)
      }
    }
  }
  visit(program, undefined, '')
  return found.map((each) => describe(file, source, each)).sort((a, b) => a.start - b.start)
}

/** With the line and its text, so that a person can find it, and a list can name it when lines have moved. */
function describe(file, source, mutation) {
  const { start, end, text } = mutation
  const line = source.slice(0, start).split('\n').length
  const from = source.slice(start, end)
  return {
    ...mutation,
    file,
    line,
    from,
    within: source.split('\n')[line - 1].trim(),
    name: nameOf(mutation, from, text),
  }
}

const nameOf = ({ operator }, from, to) => `${operator}: ${short(from)} → ${short(to)}`

const short = (text) => {
  const flat = text.replace(/\s+/g, ' ')
  return flat.length > 60 ? `${flat.slice(0, 59)}…` : flat
}
