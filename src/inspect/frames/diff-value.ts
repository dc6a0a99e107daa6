import type { Encoded } from './encode-value.ts'

/** Which paths to set and which to delete to turn one value into another. Paths are keys from the outside in. */
export interface Patch {
  readonly set?: readonly (readonly [path: readonly string[], value: Encoded])[]
  readonly drop?: readonly (readonly string[])[]
}

type Fields = { readonly [key: string]: Encoded }

/** Undefined if nothing changed. Arrays are replaced as a whole. */
export function diffValue(before: Encoded, after: Encoded): Patch | undefined {
  const set: [string[], Encoded][] = []
  const drop: string[][] = []
  compare(before, after, [], set, drop)
  if (set.length === 0 && drop.length === 0) return undefined
  return { ...(set.length > 0 && { set }), ...(drop.length > 0 && { drop }) }
}

function compare(before: Encoded, after: Encoded, path: string[], set: [string[], Encoded][], drop: string[][]): void {
  if (!isFields(before) || !isFields(after)) {
    if (JSON.stringify(before) !== JSON.stringify(after)) set.push([path, after])
    return
  }
  for (const key of Object.keys(before)) if (!Object.hasOwn(after, key)) drop.push([...path, key])
  for (const [key, value] of Object.entries(after)) {
    if (Object.hasOwn(before, key)) compare(before[key] as Encoded, value, [...path, key], set, drop)
    else set.push([[...path, key], value])
  }
}

/** The value after the patch; unchanged parts are shared with the old value. */
export function applyPatch(value: Encoded, { set = [], drop = [] }: Patch): Encoded {
  let patched = value
  for (const path of drop) patched = change(patched, path, undefined)
  for (const [path, next] of set) patched = change(patched, path, next)
  return patched
}

function change(value: Encoded, path: readonly string[], next: Encoded | undefined): Encoded {
  const [key, ...rest] = path
  if (key === undefined) return next ?? null
  const fields: Record<string, Encoded> = isFields(value) ? { ...value } : {}
  if (key === '__proto__') return fields
  if (rest.length === 0 && next === undefined) delete fields[key]
  else fields[key] = change(Object.hasOwn(fields, key) ? (fields[key] as Encoded) : {}, rest, next)
  return fields
}

const isFields = (value: Encoded): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
