import { isRecord, isSameValue } from '../plain-values.ts'
import { checkChoices } from './check-choices.ts'
import { checkList, checkNumber, checkObject, checkText } from './check-kinds.ts'
import { allFit, type Fit, fits, unfit, unsure, wrongType } from './fit.ts'

type Path = readonly (string | number)[]
export type Check = (schema: unknown, value: unknown, path: Path) => Fit

/** The work limit of one check: an untrusted schema may be built to never end. */
const maxSteps = 100_000
const maxDepth = 100

/**
 * Checks a value against an untrusted JSON Schema (2020-12 or older), in bounded time. Patterns and external
 * references are not evaluated. A value is unfit only if that is certain.
 */
export function checkValue(root: unknown, value: unknown): Fit {
  let steps = maxSteps
  let depth = 0
  const ignoresSiblings = isRecord(root) && /draft-0[467]/.test(String(root.$schema))

  const check: Check = (schema, at, path) => {
    if (--steps < 0 || depth >= maxDepth) return unsure
    if (schema === true) return fits
    if (schema === false) return unfit(path, 'no value is allowed here')
    if (!isRecord(schema)) return unsure
    // references inside would resolve against another base
    if (schema !== root && (schema.$id !== undefined || schema.id !== undefined)) return unsure
    depth++
    try {
      return allFit(parts(schema, at, path))
    } finally {
      depth--
    }
  }

  function* parts(schema: Record<string, unknown>, at: unknown, path: Path): Generator<Fit> {
    if (schema.$ref !== undefined) {
      yield follow(schema.$ref, at, path)
      if (ignoresSiblings) return
    }
    if (notLookedAt.some((keyword) => schema[keyword] !== undefined)) yield unsure
    const kind = checkType(schema.type, at, path)
    yield kind
    // after a wrong type, further problems would not help
    if (kind.verdict === 'unfit') return
    if ('const' in schema) yield checkEnum([schema.const], at, path)
    if (schema.enum !== undefined) yield checkEnum(schema.enum, at, path)
    if (typeof at === 'number') yield* checkNumber(schema, at, path)
    else if (typeof at === 'string') yield* checkText(schema, at, path)
    else if (Array.isArray(at)) yield* checkList(schema, at, path, check)
    else if (isRecord(at)) yield* checkObject(schema, at, path, check)
    yield* checkChoices(schema, at, path, check)
  }

  function follow(ref: unknown, at: unknown, path: Path): Fit {
    if (typeof ref !== 'string' || !/^#(?:\/|$)/.test(ref)) return unsure
    let target: unknown = root
    for (const part of ref.split('/').slice(1)) {
      const key = decode(part)
      if (typeof target !== 'object' || target === null || key === undefined || !Object.hasOwn(target, key))
        return unsure
      target = (target as Record<string, unknown>)[key]
    }
    return check(target, at, path)
  }

  return check(root, value, [])
}

const notLookedAt = [
  '$dynamicRef',
  '$recursiveRef',
  'unevaluatedProperties',
  'unevaluatedItems',
  'minContains',
  'maxContains',
]

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~')
  } catch {
    return undefined
  }
}

const kinds: Readonly<Record<string, (value: unknown) => boolean>> = {
  string: (value) => typeof value === 'string',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  boolean: (value) => typeof value === 'boolean',
  null: (value) => value === null,
  array: (value) => Array.isArray(value),
  object: isRecord,
}

function checkType(type: unknown, value: unknown, path: Path): Fit {
  if (type === undefined) return fits
  const types = Array.isArray(type) ? type : [type]
  if (!types.every((each) => typeof each === 'string' && Object.hasOwn(kinds, each))) return unsure
  if (types.some((each: string) => kinds[each]?.(value))) return fits
  return wrongType(path, types.map((each) => (each === 'integer' ? 'int' : each)).join(' or '))
}

function checkEnum(values: unknown, value: unknown, path: Path): Fit {
  if (!Array.isArray(values)) return unsure
  if (values.some((each) => isSameValue(each, value))) return fits
  const shown = values.slice(0, 20).map((each) => JSON.stringify(each)?.slice(0, 80))
  return unfit(path, `must be ${values.length === 1 ? '' : 'one of '}${shown.join(', ')}`)
}
