import { readFileSync } from 'node:fs'
import type { Places } from './places.ts'
import { hashOf, parseSettings, readSettingsFile } from './settings-file.ts'
import { grantsOf, isTrusted, trust } from './trust.ts'
import { writeWholeFile } from './whole-file.ts'

/**
 * Adds allow rules to the project's settings file, for this and later sessions; creates the file if needed and keeps
 * its other content. Returns the problem if the file cannot be written or is not trusted.
 */
export function keepRules(places: Places, rules: readonly string[]): string | undefined {
  try {
    addRules(places, rules)
    return undefined
  } catch (error) {
    return (error as Error).message
  }
}

function addRules(places: Places, rules: readonly string[]): void {
  const { projectSettings: path } = places
  const before = readSettingsFile(path)
  if (before !== undefined && grantsOf(before).length > 0 && !isTrusted(places, before)) {
    throw new Error(`${path} is not trusted, so no rule is added. Read the file, then pass --trust.`)
  }
  const known = before?.settings ?? {}
  const allow = [...new Set([...(known.permissions?.allow ?? []), ...rules])]
  // based on the raw file, so that the order of its keys stays
  const raw: Record<string, unknown> =
    before === undefined ? {} : JSON.parse(readFileSync(path, 'utf8').replace(/^\ufeff/, ''))
  const text = `${JSON.stringify({ ...raw, permissions: { ...(raw.permissions as object), allow } }, null, 2)}\n`
  parseSettings(text, path)
  writeWholeFile(path, text)
  trust(places, path, hashOf(text))
}
