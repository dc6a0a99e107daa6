import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { parseRule } from 'signalbox'
import type { z } from 'zod'
import { usageError } from '../usage-error.ts'
import { JsonProblem, type LinedJson, readJson } from './json-lines.ts'
import { type Settings, settingsSchema } from './settings.ts'

export interface SettingsFile {
  readonly path: string
  readonly settings: Settings
  /** The file and line of a rule. */
  whereIs(rule: string): string | undefined
  /** Content hash: a trusted file that changed is another file. */
  readonly hash: string
}

/** Reads and validates a settings file. Undefined if it does not exist; errors name the file and the line. */
export function readSettingsFile(path: string): SettingsFile | undefined {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR') return undefined
    throw usageError(`${path} cannot be read: ${message}`, error)
  }
  const { settings, json } = readSettings(text, path)
  return { path, settings, hash: hashOf(text), whereIs: (rule) => placeOf(rule, settings, json, path) }
}

export const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex')

export const parseSettings = (text: string, path: string): Settings => readSettings(text, path).settings

function placeOf(rule: string, { permissions = {} }: Settings, json: LinedJson, path: string): string | undefined {
  for (const list of ['allow', 'ask', 'deny'] as const) {
    const index = permissions[list]?.indexOf(rule) ?? -1
    if (index >= 0) return `${path}:${json.lineOf(['permissions', list, index])}`
  }
  return undefined
}

function readSettings(text: string, path: string): { settings: Settings; json: LinedJson } {
  let json: LinedJson
  try {
    json = readJson(text)
  } catch (error) {
    if (error instanceof JsonProblem) throw usageError(`${path}:${error.line}: ${error.message}.`)
    throw error
  }
  const parsed = settingsSchema.safeParse(json.value)
  if (!parsed.success) throw usageError(problemOf(parsed.error.issues[0], json, path))
  checkRules(parsed.data, json, path)
  return { settings: parsed.data, json }
}

function problemOf(issue: z.core.$ZodIssue | undefined, json: LinedJson, path: string): string {
  if (issue === undefined) return `${path}: the file is not valid.`
  const name = issue.path.map(String).join('.')
  if (issue.code === 'unrecognized_keys') {
    const [key = ''] = issue.keys
    const known = knownKeys(issue.path)
    const line = json.lineOf([...issue.path, key])
    return `${path}:${line}: unknown setting ${[...issue.path, key].map(String).join('.')}.${known === '' ? '' : ` Known settings: ${known}.`}`
  }
  const what = issue.message.replace(/^Invalid (?:input|option): /, '').replace(/\.$/, '')
  return `${path}:${json.lineOf(issue.path)}: ${name === '' ? 'the file' : name}: ${what}.`
}

/** The names that are valid where an unknown one was found. */
function knownKeys(path: readonly PropertyKey[]): string {
  if (path.length === 0)
    return Object.keys(settingsSchema.shape)
      .filter((key) => key !== '$schema')
      .join(', ')
  if (path.length !== 1) return ''
  return (
    { permissions: 'defaultMode, allow, ask, deny', hooks: 'PreToolUse, PostToolUse, PostToolUseFailure' }[
      String(path[0])
    ] ?? ''
  )
}

function checkRules({ permissions = {} }: Settings, json: LinedJson, path: string): void {
  for (const list of ['allow', 'ask', 'deny'] as const) {
    for (const [index, rule] of (permissions[list] ?? []).entries()) {
      try {
        parseRule(rule)
      } catch (error) {
        const line = json.lineOf(['permissions', list, index])
        throw usageError(`${path}:${line}: permissions.${list}: ${(error as Error).message}`, error)
      }
    }
  }
}
