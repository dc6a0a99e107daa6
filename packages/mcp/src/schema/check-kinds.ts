import { isRecord, isSameValue } from '../plain-values.ts'
import type { Check } from './check-value.ts'
import { type Fit, type SchemaIssue, unfit, unsure, wrongType } from './fit.ts'

type Path = readonly (string | number)[]
type Schema = Record<string, unknown>

/** A limit that is not a number, such as the booleans of draft 4, is ignored. */
function* limit(bound: unknown, isKept: (bound: number) => boolean, path: Path, words: string): Generator<Fit> {
  if (bound === undefined) return
  if (typeof bound !== 'number') yield unsure
  else if (!isKept(bound)) yield unfit(path, `${words} ${bound}`)
}

export function* checkNumber(schema: Schema, value: number, path: Path): Generator<Fit> {
  yield* limit(schema.minimum, (least) => value >= least, path, 'must not be below')
  yield* limit(schema.maximum, (most) => value <= most, path, 'must not be above')
  yield* limit(schema.exclusiveMinimum, (least) => value > least, path, 'must be above')
  yield* limit(schema.exclusiveMaximum, (most) => value < most, path, 'must be below')
  const { multipleOf } = schema
  if (multipleOf === undefined) return
  // floating-point arithmetic is not exact for fractions
  if (!Number.isSafeInteger(multipleOf) || !Number.isSafeInteger(value) || multipleOf === 0) yield unsure
  else if (value % (multipleOf as number) !== 0) yield unfit(path, `must be a multiple of ${multipleOf}`)
}

export function* checkText(schema: Schema, value: string, path: Path): Generator<Fit> {
  const { minLength, maxLength, pattern } = schema
  if (minLength !== undefined || maxLength !== undefined) {
    const length = Array.from(value).length
    yield* limit(minLength, (least) => length >= least, path, 'its length must not be below')
    yield* limit(maxLength, (most) => length <= most, path, 'its length must not be above')
  }
  // an untrusted pattern may take for ever: the server checks it
  if (pattern !== undefined) yield unsure
}

const maxCompared = 200

export function* checkList(schema: Schema, value: readonly unknown[], path: Path, check: Check): Generator<Fit> {
  yield* limit(schema.minItems, (least) => value.length >= least, path, 'the number of its items must not be below')
  yield* limit(schema.maxItems, (most) => value.length <= most, path, 'the number of its items must not be above')
  if (schema.uniqueItems === true) {
    if (value.length > maxCompared) yield unsure
    else if (value.some((item, at) => value.slice(0, at).some((before) => isSameValue(before, item)))) {
      yield unfit(path, 'items must be unique')
    }
  }
  const isTuple = Array.isArray(schema.items)
  const first: unknown = schema.prefixItems ?? (isTuple ? schema.items : [])
  const rest: unknown = isTuple ? schema.additionalItems : schema.items
  if (!Array.isArray(first)) yield unsure
  else {
    for (const [at, item] of value.entries()) {
      if (at < first.length) yield check(first[at], item, [...path, at])
      else if (rest === undefined) break
      else yield check(rest, item, [...path, at])
    }
  }
  if (schema.contains === undefined || schema.minContains !== undefined || schema.maxContains !== undefined) return
  const found = value.map((item, at) => check(schema.contains, item, [...path, at]).verdict)
  if (found.includes('fits')) return
  yield found.includes('unsure') ? unsure : unfit(path, 'a required item is missing')
}

export function* checkObject(schema: Schema, value: Schema, path: Path, check: Check): Generator<Fit> {
  const { properties = {}, required = [] } = schema
  const keys = Object.keys(value)
  yield* limit(schema.minProperties, (least) => keys.length >= least, path, 'the number of its keys must not be below')
  yield* limit(schema.maxProperties, (most) => keys.length <= most, path, 'the number of its keys must not be above')
  if (!isRecord(properties)) return yield unsure
  if (Array.isArray(required)) yield* checkRequired(required, properties, value, path)
  else yield unsure
  for (const key of keys) {
    if (Object.hasOwn(properties, key)) yield check(properties[key], value[key], [...path, key])
    if (schema.propertyNames !== undefined) yield check(schema.propertyNames, key, path)
  }
  yield* checkOthers(schema, properties, value, path, check)
  yield* checkDependents(schema, value, path, check)
}

function* checkRequired(required: readonly unknown[], properties: Schema, value: Schema, path: Path): Generator<Fit> {
  for (const key of required) {
    if (typeof key !== 'string') yield unsure
    else if (!Object.hasOwn(value, key)) {
      const own = Object.hasOwn(properties, key) && isRecord(properties[key]) ? properties[key].type : undefined
      yield wrongType([...path, key], typeof own === 'string' ? own : 'a value')
    }
  }
}

/** The keys without a schema of their own. */
function* checkOthers(schema: Schema, properties: Schema, value: Schema, path: Path, check: Check): Generator<Fit> {
  const { additionalProperties, patternProperties } = schema
  const others = Object.keys(value).filter((key) => !Object.hasOwn(properties, key))
  if (isRecord(patternProperties) ? Object.keys(patternProperties).length > 0 : patternProperties !== undefined) {
    yield unsure
    return
  }
  if (additionalProperties === undefined || others.length === 0) return
  if (additionalProperties === false) {
    const issue: SchemaIssue = { path, code: 'unrecognized_keys', keys: others }
    yield { verdict: 'unfit', issues: [issue] }
  } else for (const key of others) yield check(additionalProperties, value[key], [...path, key])
}

function* checkDependents(schema: Schema, value: Schema, path: Path, check: Check): Generator<Fit> {
  for (const dependents of [schema.dependentRequired, schema.dependentSchemas, schema.dependencies]) {
    if (dependents === undefined) continue
    if (!isRecord(dependents)) yield unsure
    else {
      for (const [key, wanted] of Object.entries(dependents)) {
        if (!Object.hasOwn(value, key)) continue
        if (Array.isArray(wanted)) yield* checkRequired(wanted, {}, value, path)
        else yield check(wanted, value, path)
      }
    }
  }
}
