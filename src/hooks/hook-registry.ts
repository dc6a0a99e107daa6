import { describeError } from '../base/describe-error.ts'
import { invalidOption } from '../base/invalid-option.ts'
import { aFunction, aString, checkOption, oneOf, positiveSeconds, requireOption } from '../base/option-rules.ts'
import { SignalboxError } from '../base/signalbox-error.ts'
import type { HookCallback, HookEvent, Hooks } from './hook.ts'

/** One hook, ready to run. */
export interface ReadyHook {
  readonly run: HookCallback
  /** The name in messages: `PreToolUse:guard`. */
  readonly name: string
  readonly timeoutMs: number
  readonly failsOpen: boolean
}

interface Entry {
  readonly matches: MatchesTool
  readonly hooks: readonly ReadyHook[]
}

export type HookRegistry = { readonly [Event in HookEvent]: readonly Entry[] }

const none: readonly ReadyHook[] = []
const defaultTimeout = 60
/** The longest delay that a timer supports, in seconds. */
const maxTimeout = 2_147_483

/** The hooks of an event that match a tool with these names, in the order in which they were registered. */
export function hooksFor(book: HookRegistry, event: HookEvent, names: readonly string[]): readonly ReadyHook[] {
  let found: readonly ReadyHook[] = none
  for (const { matches, hooks } of book[event]) {
    // usually one entry matches, and its list is used without a copy
    if (matches(names)) found = found.length === 0 ? hooks : [...found, ...hooks]
  }
  return found
}

/** The hooks with their matchers parsed. Throws an error that names the first invalid field. */
export function readHooks(hooks: Hooks): HookRegistry {
  if (typeof hooks !== 'object' || hooks === null) invalidHook('hooks', 'an object', hooks)
  const entriesOf = (event: HookEvent) => readEntries(hooks[event], event)
  return {
    PreToolUse: entriesOf('PreToolUse'),
    PostToolUse: entriesOf('PostToolUse'),
    PostToolUseFailure: entriesOf('PostToolUseFailure'),
  }
}

function readEntries(given: unknown, event: HookEvent): Entry[] {
  if (given === undefined) return []
  if (!Array.isArray(given)) return invalidHook(`hooks.${event}`, 'an array of { matcher, hooks }', given)
  return Array.from(given, (entry, index) => readEntry(entry, event, `hooks.${event}[${index}]`))
}

function readEntry(given: unknown, event: HookEvent, where: string): Entry {
  if (typeof given !== 'object' || given === null) return invalidHook(where, '{ matcher, hooks }', given)
  const { matcher, hooks, timeout = defaultTimeout, onFailure } = given as Record<string, unknown>
  checkOption(`${where}.matcher`, matcher, aString, 'invalid_hook')
  const matches = readMatcher(matcher as string | undefined)
  if (typeof matches !== 'function') {
    throw new SignalboxError('invalid_hook', `${where}.matcher ${JSON.stringify(matcher)}: ${matches.problem}`)
  }
  checkOption(`${where}.timeout`, timeout, positiveSeconds, 'invalid_hook')
  checkOption(`${where}.onFailure`, onFailure, oneOf('continue', 'block'), 'invalid_hook')
  if (!Array.isArray(hooks)) return invalidHook(`${where}.hooks`, 'an array of functions', hooks)
  const ready = Array.from(hooks, (run: unknown, index): ReadyHook => {
    requireOption(`${where}.hooks[${index}]`, run, aFunction, 'invalid_hook')
    return {
      run: run as HookCallback,
      name: `${event}:${(run as HookCallback).name || 'hook'}`,
      timeoutMs: Math.min(timeout as number, maxTimeout) * 1_000,
      failsOpen: onFailure === 'continue',
    }
  })
  return { matches, hooks: ready }
}

function invalidHook(field: string, expected: string, received: unknown): never {
  invalidOption(field, expected, received, 'invalid_hook')
}

type MatchesTool = (names: readonly string[]) => boolean

/** The characters of plain names and lists of them; anything else makes a pattern a regular expression. */
const plainNames = /^[\w\-|, ]*$/
const serverName = /^mcp__(?:(?!__).)+$/

/**
 * Parses a matcher: `*` or nothing for every tool, a name, a list of names (`A|B`), `mcp__server` for all tools of that
 * server. Anything else is a regular expression that may match anywhere in the name.
 */
function readMatcher(matcher: string | undefined): MatchesTool | { problem: string } {
  const text = (matcher ?? '').trim()
  if (text === '' || text === '*') return () => true
  if (plainNames.test(text)) {
    const wanted = text.split(/[|,\s]+/)
    return (names) => names.some((name) => wanted.some((each) => isMeant(each, name)))
  }
  try {
    const pattern = new RegExp(text)
    return (names) => names.some((name) => pattern.test(name))
  } catch (error) {
    return { problem: describeError(error) }
  }
}

const isMeant = (wanted: string, name: string): boolean =>
  wanted === name || (serverName.test(wanted) && name.startsWith(`${wanted}__`))
