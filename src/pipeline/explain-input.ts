import { describeValue } from '../results/describe-value.ts'

type Issue = {
  readonly code?: string
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly expected?: unknown
  readonly keys?: readonly string[]
}

const maxIssues = 10
const maxShown = 80

/** What is wrong with an input, one line per problem, so that a model can mend it. */
export function explainIssues(issues: readonly Issue[], input: unknown): string {
  const lines = issues.slice(0, maxIssues).map((issue) => explainIssue(issue, valueAt(input, issue.path)))
  const left = issues.length - lines.length
  if (left > 0) lines.push(`and ${left} more`)
  return lines.length === 1 ? (lines[0] as string) : lines.map((line) => `\n- ${line}`).join('')
}

/** For an input that never reaches the schema. */
export function explainNotAnObject(input: unknown): string {
  return `the input must be an object, but ${came(input)} came.${hintFor('object', input)}`
}

function explainIssue(issue: Issue, value: unknown): string {
  const where = issue.path.length === 0 ? 'the input' : `\`${pathOf(issue.path)}\``
  if (issue.code === 'unrecognized_keys') {
    return `${where} has ${issue.keys?.length === 1 ? 'a key' : 'keys'} that the tool does not know: ${issue.keys?.join(', ')}`
  }
  if (issue.code !== 'invalid_type') return `${where}: ${issue.message}, but ${came(value)} came`
  const expected = String(issue.expected)
  if (value === undefined) return `${where} is required (${expected}), but is missing`
  return `${where} must be ${article(expected)} ${expected}, but ${came(value)} came.${hintFor(expected, value)}`
}

/** The usual mistakes of models. */
function hintFor(expected: string, value: unknown): string {
  if (typeof value !== 'string') return ''
  if (expected === 'object' || expected === 'array') {
    return isJsonOf(expected, value) ? ` Send the ${expected} itself, not a JSON string of it.` : ''
  }
  if (expected === 'number' || expected === 'int') {
    return value.trim() !== '' && Number.isFinite(Number(value)) ? ` Send ${value.trim()} without quotes.` : ''
  }
  if (expected === 'boolean' && /^(true|false)$/i.test(value)) return ` Send ${value.toLowerCase()} without quotes.`
  return ''
}

function isJsonOf(expected: 'object' | 'array', text: string): boolean {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null && Array.isArray(parsed) === (expected === 'array')
  } catch {
    return false
  }
}

function came(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  const kind = Array.isArray(value) ? 'array' : typeof value
  const text = describeValue(value, maxShown)
  return `the ${kind} ${text.length > maxShown ? `${text.slice(0, maxShown)}…` : text}`
}

const article = (noun: string): string => (/^[aeiou]/.test(noun) ? 'an' : 'a')

const pathOf = (path: readonly PropertyKey[]): string =>
  path.map((key, index) => (typeof key === 'number' ? `[${key}]` : `${index === 0 ? '' : '.'}${String(key)}`)).join('')

function valueAt(input: unknown, path: readonly PropertyKey[]): unknown {
  let value = input
  for (const key of path) {
    if (typeof value !== 'object' || value === null) return undefined
    value = (value as Record<PropertyKey, unknown>)[key]
  }
  return value
}
