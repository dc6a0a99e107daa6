import type { Check } from './check-value.ts'
import { type Fit, fits, unfit, unsure } from './fit.ts'

type Path = readonly (string | number)[]

/** The keywords that combine schemas. An unsure verdict inside stays unsure outside. */
export function* checkChoices(
  schema: Record<string, unknown>,
  value: unknown,
  path: Path,
  check: Check,
): Generator<Fit> {
  const { allOf, anyOf, oneOf, not } = schema
  if (allOf !== undefined) yield* each(allOf, (part) => check(part, value, path))
  if (anyOf !== undefined) yield Array.isArray(anyOf) ? anyFits(anyOf.map((part) => check(part, value, path))) : unsure
  if (oneOf !== undefined) {
    yield Array.isArray(oneOf)
      ? oneFits(
          oneOf.map((part) => check(part, value, path)),
          path,
        )
      : unsure
  }
  if (not !== undefined) {
    const inner = check(not, value, path)
    if (inner.verdict !== 'unfit')
      yield inner.verdict === 'fits' ? unfit(path, 'matches a schema that is forbidden here') : unsure
  }
  if (schema.if !== undefined) yield checkBranch(schema, value, path, check)
}

function* each(list: unknown, one: (part: unknown) => Fit): Generator<Fit> {
  if (!Array.isArray(list)) yield unsure
  else for (const part of list) yield one(part)
}

function anyFits(parts: readonly Fit[]): Fit {
  if (parts.some(({ verdict }) => verdict === 'fits')) return fits
  if (parts.some(({ verdict }) => verdict === 'unsure') || parts.length === 0) return unsure
  return nearest(parts)
}

function oneFits(parts: readonly Fit[], path: Path): Fit {
  const sure = parts.filter(({ verdict }) => verdict === 'fits').length
  if (sure > 1) return unfit(path, 'matches more than one schema, expected exactly one')
  if (parts.some(({ verdict }) => verdict === 'unsure') || parts.length === 0) return unsure
  return sure === 1 ? fits : nearest(parts)
}

/** Of the alternatives that do not fit, reports the most likely one: the one that fails deepest inside. */
function nearest(parts: readonly Fit[]): Fit {
  const unfits = parts.filter((part) => part.verdict === 'unfit')
  const depthOf = (part: (typeof unfits)[number]): number => Math.max(...part.issues.map(({ path }) => path.length))
  return unfits.reduce((best, part) => {
    const deeper = depthOf(part) - depthOf(best)
    return deeper > 0 || (deeper === 0 && part.issues.length < best.issues.length) ? part : best
  })
}

function checkBranch(schema: Record<string, unknown>, value: unknown, path: Path, check: Check): Fit {
  const { verdict } = check(schema.if, value, path)
  if (verdict === 'unsure') return unsure
  const branch = verdict === 'fits' ? schema.then : schema.else
  return branch === undefined ? fits : check(branch, value, path)
}
