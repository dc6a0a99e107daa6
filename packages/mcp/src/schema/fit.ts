/** One problem, in the words used to explain invalid input. */
export type SchemaIssue = { readonly path: readonly (string | number)[] } & (
  | { readonly code: 'invalid_type'; readonly expected: string }
  | { readonly code: 'unrecognized_keys'; readonly keys: readonly string[] }
  | { readonly code: 'custom'; readonly message: string }
)

/**
 * Whether a value fits a schema. `unsure` marks keywords that are not evaluated: it must never make a value unfit, and
 * inside `not` it must never make one fit.
 */
export type Fit =
  | { readonly verdict: 'fits' }
  | { readonly verdict: 'unsure' }
  | { readonly verdict: 'unfit'; readonly issues: readonly SchemaIssue[] }

export const fits: Fit = { verdict: 'fits' }
export const unsure: Fit = { verdict: 'unsure' }

const maxIssues = 20

export const unfit = (path: readonly (string | number)[], message: string): Fit => ({
  verdict: 'unfit',
  issues: [{ path, code: 'custom', message }],
})

export const wrongType = (path: readonly (string | number)[], expected: string): Fit => ({
  verdict: 'unfit',
  issues: [{ path, code: 'invalid_type', expected }],
})

/** All of them must fit. */
export function allFit(parts: Iterable<Fit>): Fit {
  const issues: SchemaIssue[] = []
  let isUnsure = false
  for (const part of parts) {
    if (part.verdict === 'unfit') issues.push(...part.issues)
    else if (part.verdict === 'unsure') isUnsure = true
    if (issues.length >= maxIssues) break
  }
  if (issues.length > 0) return { verdict: 'unfit', issues }
  return isUnsure ? unsure : fits
}
