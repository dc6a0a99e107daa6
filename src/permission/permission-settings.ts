import { type Opinion, type PermissionMode, permissionModes } from '../../machines/index.ts'
import { SignalboxError } from '../errors/signalbox-error.ts'
import { describeValue } from '../text/describe-value.ts'
import { type PermissionRule, parseRule } from './permission-rule.ts'

export type PermissionLists = { [Behavior in Opinion]?: readonly string[] | undefined }

/** What may run without asking, what is asked, and what never runs. */
export interface PermissionSettings extends PermissionLists {
  /** @default 'default' */
  mode?: PermissionMode | undefined
}

export interface ReadPermissions {
  readonly mode: PermissionMode
  readonly rules: { readonly [Behavior in Opinion]: readonly PermissionRule[] }
  /** Nothing but the host has a word. */
  readonly isPlain: boolean
}

const behaviors = ['deny', 'ask', 'allow'] as const

const plain: ReadPermissions = { mode: 'default', rules: { deny: [], ask: [], allow: [] }, isPlain: true }

/** The settings with their rules parsed. Throws at what cannot be read, naming it. */
export function readPermissions(settings: PermissionSettings | undefined): ReadPermissions {
  if (settings === undefined) return plain
  if (typeof settings !== 'object' || settings === null) fail('permissions', 'an object', settings)
  const { mode = 'default' } = settings
  if (!permissionModes.includes(mode)) fail('permissions.mode', `one of ${permissionModes.join(', ')}`, mode)
  const rules = readRules(settings, 'permissions')
  return { mode, rules, isPlain: mode === 'default' && behaviors.every((each) => rules[each].length === 0) }
}

export function readRules(lists: PermissionLists, where: string): ReadPermissions['rules'] {
  if (typeof lists !== 'object' || lists === null) fail(where, 'an object of rules', lists)
  const readList = (behavior: Opinion): PermissionRule[] => {
    const list: unknown = lists[behavior] ?? []
    if (!Array.isArray(list)) return fail(`${where}.${behavior}`, 'an array of rules', list)
    return Array.from(list, (text, index) => parseRule(text, `${where}.${behavior}[${index}]`))
  }
  return { deny: readList('deny'), ask: readList('ask'), allow: readList('allow') }
}

/** The settings with more rules behind those they have. */
export function withRules(settings: PermissionSettings | undefined, more: PermissionLists): PermissionSettings {
  const joined = (behavior: Opinion) => [...new Set([...(settings?.[behavior] ?? []), ...(more[behavior] ?? [])])]
  return { ...settings, deny: joined('deny'), ask: joined('ask'), allow: joined('allow') }
}

function fail(field: string, expected: string, came: unknown): never {
  throw new SignalboxError(
    'invalid_context',
    `The context's ${field} must be ${expected}, but got ${describeValue(came, 80)}.`,
  )
}
