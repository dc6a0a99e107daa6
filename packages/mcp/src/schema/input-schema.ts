import { z } from 'zod'
import { isRecord } from '../plain-values.ts'
import { checkValue } from './check-value.ts'

const maxKeys = 1_000

/**
 * A Zod schema that accepts what a JSON Schema accepts, and what only the server can judge. Its keys serve the
 * hints that a model gets for a misspelt key.
 */
export function inputSchemaFor(jsonSchema: Record<string, unknown>): z.ZodObject {
  const { properties } = jsonSchema
  const keys = isRecord(properties) ? Object.keys(properties).slice(0, maxKeys) : []
  const shape = Object.fromEntries(
    keys.filter((key) => key !== '__proto__').map((key) => [key, z.unknown().optional()]),
  )
  return z.looseObject(shape).check((context) => {
    const fit = checkValue(jsonSchema, context.value)
    if (fit.verdict !== 'unfit') return
    for (const { path, ...issue } of fit.issues) {
      context.issues.push({ ...issue, path: [...path], input: context.value } as (typeof context.issues)[number])
    }
  })
}
