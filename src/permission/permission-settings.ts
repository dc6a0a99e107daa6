import { type PermissionBehavior, type PermissionMode, permissionModes } from '../../machines/index.ts'
import { invalidOption } from '../base/invalid-option.ts'
import { type OptionRule, requireOption } from '../base/option-rules.ts'
import { isRecord } from '../base/read-field.ts'
import { type DenyRule, type PermissionRule, parseRule } from './permission-rule.ts'

export interface PermissionLists {
  allow?: readonly string[] | undefined
  ask?: readonly string[] | undefined
  /** A rule may have a message for the model: `{ rule: 'Bash(rm *)', message: 'Move it to trash/ instead.' }`. */
  deny?: readonly (string | DenyRule)[] | undefined
}

/** The calls that run without a question, the calls that need an answer, and the calls that never run. */
export interface PermissionSettings extends PermissionLists {
  /** @default 'default' */
  mode?: PermissionMode | undefined
}

export interface ReadPermissions {
  readonly mode: PermissionMode
  readonly rules: { readonly [Behavior in PermissionBehavior]: readonly PermissionRule[] }
  /** Only the host decides. */
  readonly isPlain: boolean
}

const behaviors = ['deny', 'ask', 'allow'] as const

const plain: ReadPermissions = { mode: 'default', rules: { deny: [], ask: [], allow: [] }, isPlain: true }

/** The settings with their rules parsed. Throws an error that names the invalid part. */
export function readPermissions(settings: PermissionSettings | undefined): ReadPermissions {
  if (settings === undefined) return plain
  if (typeof settings !== 'object' || settings === null) invalidInContext('permissions', 'an object', settings)
  const { mode = 'default' } = settings
  if (!permissionModes.includes(mode))
    invalidInContext('permissions.mode', `one of ${permissionModes.join(', ')}`, mode)
  const rules = readRules(settings, 'permissions')
  return { mode, rules, isPlain: mode === 'default' && behaviors.every((each) => rules[each].length === 0) }
}

/** Rules that come with an answer: with another key, they would be ignored unnoticed. */
export function readAddedRules(lists: PermissionLists, where: string): ReadPermissions['rules'] {
  requireOption(where, lists, addedRules)
  return readRules(lists, where, invalidOption)
}

const addedRules: OptionRule = [
  (lists) => isRecord(lists) && Object.keys(lists).every((key) => behaviors.some((each) => each === key)),
  'an object with allow, ask or deny',
]

export function readRules(lists: PermissionLists, where: string, invalid = invalidInContext): ReadPermissions['rules'] {
  if (typeof lists !== 'object' || lists === null) invalid(where, 'an object of rules', lists)
  const readList = (behavior: PermissionBehavior): PermissionRule[] => {
    const list: unknown = lists[behavior] ?? []
    if (!Array.isArray(list)) return invalid(`${where}.${behavior}`, 'an array of rules', list)
    return Array.from(list, (text, index) => {
      const rule = parseRule(text, `${where}.${behavior}[${index}]`)
      if (rule.message === undefined || behavior === 'deny') return rule
      return invalid(`${where}.${behavior}[${index}]`, 'a string: only deny rules have a message', text)
    })
  }
  return { deny: readList('deny'), ask: readList('ask'), allow: readList('allow') }
}

/** The settings with further rules appended. */
export function withRules(settings: PermissionSettings | undefined, more: PermissionLists): PermissionSettings {
  const joined = <Rule>(own: readonly Rule[] = [], added: readonly Rule[] = []): Rule[] => [
    ...new Set([...own, ...added]),
  ]
  return {
    ...settings,
    deny: joined(settings?.deny, more.deny),
    ask: joined(settings?.ask, more.ask),
    allow: joined(settings?.allow, more.allow),
  }
}

const invalidInContext = (field: string, expected: string, received: unknown): never =>
  invalidOption(`context.${field}`, expected, received, 'invalid_context')
