export const permissionModes = ['default', 'plan', 'acceptEdits', 'bypassPermissions', 'dontAsk'] as const

/** How strict a session is if no hook, rule or tool decides. */
export type PermissionMode = (typeof permissionModes)[number]

export type PermissionBehavior = 'allow' | 'ask' | 'deny'

/** The possible requests of a hook, and the possible decisions: `defer` pauses the call until somebody answers later. */
export type PermissionVerdict = PermissionBehavior | 'defer'

/** Everything that decides whether a call may run. Absent fields have no influence. */
export interface PermissionFacts {
  readonly mode: PermissionMode
  readonly hook?: PermissionVerdict | undefined
  /** The first rule of each list that matches this call, as written. */
  readonly denyRule?: string | undefined
  readonly askRule?: string | undefined
  readonly allowRule?: string | undefined
  /** The tool's own check. */
  readonly tool?: PermissionBehavior | undefined
  /** How often the same call has had the same result, one time after the other, if that is too often. */
  readonly repeats?: number | undefined
  /** There is nobody to ask. */
  readonly hasNobody?: boolean | undefined
  readonly isReadOnly: boolean
  /** It edits files of the workspace, and nothing else. */
  readonly editsWorkspace: boolean
}

/** The source of the decision. */
export type DecisionSource =
  | { readonly by: 'hook' | 'tool' | 'host' }
  | { readonly by: 'rule'; readonly rule: string }
  | { readonly by: 'mode'; readonly mode: PermissionMode }
  /** The call repeats itself. */
  | { readonly by: 'loop'; readonly repeats: number }

export interface Decision {
  readonly behavior: PermissionVerdict
  readonly source: DecisionSource
}

/**
 * Whether a call may run: deny before defer before ask before allow, and only then the mode. So no allow passes a deny,
 * a defer or an ask, whoever it comes from.
 */
export function decidePermission(facts: PermissionFacts): Decision {
  const decision = denial(facts) ?? question(facts) ?? consent(facts) ?? byMode(facts)
  const needsSomebody = decision.behavior === 'ask' || decision.behavior === 'defer'
  // without anybody to ask, a call that repeats itself is refused; who is to answer any other is the host's matter
  const isRefused = decision.source.by === 'loop' && (facts.hasNobody === true || facts.mode === 'dontAsk')
  if (isRefused) return { behavior: 'deny', source: decision.source }
  if (!needsSomebody || facts.mode !== 'dontAsk') return decision
  return { behavior: 'deny', source: modeOf(facts) }
}

/** The part of the decision that the host cannot change. */
export function denial(facts: PermissionFacts): Decision | undefined {
  if (facts.hook === 'deny') return { behavior: 'deny', source: { by: 'hook' } }
  if (facts.denyRule !== undefined) return { behavior: 'deny', source: { by: 'rule', rule: facts.denyRule } }
  if (facts.tool === 'deny') return { behavior: 'deny', source: { by: 'tool' } }
  if (facts.mode === 'plan' && !facts.isReadOnly) return { behavior: 'deny', source: modeOf(facts) }
  return undefined
}

function question({ askRule, hook, tool, repeats }: PermissionFacts): Decision | undefined {
  if (hook === 'defer') return { behavior: 'defer', source: { by: 'hook' } }
  if (askRule !== undefined) return { behavior: 'ask', source: { by: 'rule', rule: askRule } }
  if (hook === 'ask') return { behavior: 'ask', source: { by: 'hook' } }
  if (tool === 'ask') return { behavior: 'ask', source: { by: 'tool' } }
  if (repeats !== undefined) return { behavior: 'ask', source: { by: 'loop', repeats } }
  return undefined
}

function consent({ allowRule, hook, tool }: PermissionFacts): Decision | undefined {
  if (hook === 'allow') return { behavior: 'allow', source: { by: 'hook' } }
  if (allowRule !== undefined) return { behavior: 'allow', source: { by: 'rule', rule: allowRule } }
  if (tool === 'allow') return { behavior: 'allow', source: { by: 'tool' } }
  return undefined
}

function byMode(facts: PermissionFacts): Decision {
  const { mode, editsWorkspace } = facts
  const allows = mode === 'bypassPermissions' || (mode === 'acceptEdits' && editsWorkspace)
  return { behavior: allows ? 'allow' : 'ask', source: modeOf(facts) }
}

const modeOf = ({ mode }: PermissionFacts): DecisionSource => ({ by: 'mode', mode })
