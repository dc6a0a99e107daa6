import { describeValue } from '../base/describe-value.ts'

type Issue = {
  readonly code?: string
  readonly path: readonly PropertyKey[]
  readonly message: string
  readonly expected?: unknown
  readonly keys?: readonly string[]
  /** For a union: the issues of each member. */
  readonly errors?: readonly (readonly Issue[])[]
  /** For a literal or an enum: the allowed values. */
  readonly values?: readonly unknown[]
}

const maxIssues = 10
const maxShown = 80

/** Explains the problems of an input, one per line, so that a model can fix it. `known`: the keys of the schema. */
export function explainIssues(issues: readonly Issue[], input: unknown, known: readonly string[]): string {
  const lines = issues.slice(0, maxIssues).map((issue) => explainIssue(issue, input, known))
  const left = issues.length - lines.length
  if (left > 0) lines.push(`and ${left} more`)
  return lines.length === 1 ? (lines[0] as string) : lines.map((line) => `\n- ${line}`).join('')
}

/** For an input that is not an object and never reaches the schema. */
export function explainNotAnObject(input: unknown, known: readonly string[]): string {
  const hint = hintFor('object', input) || (typeof input === 'string' ? '' : wrapperHint(known))
  return `the input: expected object, received ${received(input)}.${hint}`
}

function explainIssue(issue: Issue, input: unknown, known: readonly string[]): string {
  const value = valueAt(input, issue.path)
  const where = issue.path.length === 0 ? 'the input' : `\`${pathOf(issue.path)}\``
  if (issue.code === 'unrecognized_keys') {
    const all = issue.keys ?? []
    const keys = all
      .slice(0, maxIssues)
      .map((key) => unknownKey(key.slice(0, maxShown), issue.path.length === 0 ? known : []))
    if (all.length > keys.length) keys.push(`and ${all.length - keys.length} more`)
    return `${where} has ${keys.length === 1 ? 'an unknown key' : 'unknown keys'}: ${keys.join(', ')}`
  }
  if (issue.code === 'invalid_union' || issue.code === 'invalid_value') return explainChoice(issue, where, value)
  if (issue.code !== 'invalid_type') return `${where}: ${issue.message}, received ${received(value)}`
  const expected = String(issue.expected)
  if (value === undefined)
    return `${where} is required (${expected}), but is missing${missingHint(issue, input, known)}`
  return `${where}: expected ${expected}, received ${received(value)}.${hintFor(expected, value)}`
}

/** For a union, an enum or a literal: the allowed values, and a hint at the member that was probably meant. */
function explainChoice({ errors = [], values = [], message }: Issue, where: string, value: unknown): string {
  const members = errors.flatMap(([first]) =>
    first?.path.length === 0 && first.expected !== undefined ? [String(first.expected)] : [],
  )
  const choices = [...new Set([...members, ...values.map((each) => describeValue(each, maxShown))])].slice(
    0,
    2 * maxIssues,
  )
  if (choices.length === 0) return `${where}: ${message}, received ${received(value)}`
  const kinds = [...members, ...values.map((each) => typeof each)]
  const hint = kinds.map((kind) => hintFor(kind, value)).find((each) => each !== '') ?? ''
  return `${where}: expected ${choices.length === 1 ? '' : 'one of '}${choices.join(', ')}, received ${received(value)}.${hint}`
}

/** Hints for common mistakes of models. */
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

function unknownKey(key: string, known: readonly string[]): string {
  const meant = nearestKey(key, known)
  return meant === undefined ? key : `${key} (did you mean ${meant}?)`
}

/** The key may be misspelt, or its value may have been sent in place of the object. */
function missingHint({ path }: Issue, input: unknown, known: readonly string[]): string {
  if (path.length !== 1 || typeof input !== 'object' || input === null) return ''
  const strangers = Object.keys(input).filter((key) => !known.includes(key))
  const slip = nearestKey(String(path[0]), strangers)
  if (slip !== undefined) return `. You sent ${slip}; name it ${String(path[0])}.`
  return strangers.length > 0 && known.length === 1 ? `.${wrapperHint(known)}` : ''
}

const wrapperHint = (known: readonly string[]): string =>
  known.length === 1 ? ` Send { "${known[0]}": … } around it.` : ''

function isJsonOf(expected: 'object' | 'array', text: string): boolean {
  try {
    const parsed: unknown = JSON.parse(text)
    return typeof parsed === 'object' && parsed !== null && Array.isArray(parsed) === (expected === 'array')
  } catch {
    return false
  }
}

function received(value: unknown): string {
  if (value === undefined) return 'nothing'
  if (value === null) return 'null'
  const kind = Array.isArray(value) ? 'array' : typeof value
  const text = describeValue(value, maxShown)
  return `${kind} ${text.length > maxShown ? `${text.slice(0, maxShown)}…` : text}`
}

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

/** The key that was probably meant: equal except for case and separators, or with at most two typos. */
export function nearestKey(given: string, keys: readonly string[]): string | undefined {
  const plain = plainOf(given)
  const same = keys.find((key) => plainOf(key) === plain)
  if (same !== undefined || given.length > 40) return same
  const limit = given.length > 4 ? 2 : 1
  const byDistance = keys
    .filter((key) => key.length <= 40)
    .map((key) => ({ key, distance: distanceOf(plain, plainOf(key)) }))
  return byDistance.sort((a, b) => a.distance - b.distance).find(({ distance }) => distance <= limit)?.key
}

const plainOf = (key: string): string => key.toLowerCase().replace(/[^a-z0-9]/g, '')

/** The number of letters to change, insert or remove. */
function distanceOf(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, index) => index)
  for (let i = 0; i < one.length; i++) {
    const next = [i + 1]
    for (let j = 0; j < other.length; j++) {
      const swapped = (row[j] as number) + (one[i] === other[j] ? 0 : 1)
      next.push(Math.min(swapped, (row[j + 1] as number) + 1, (next[j] as number) + 1))
    }
    row = next
  }
  return row[other.length] as number
}
