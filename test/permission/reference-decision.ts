import type {
  Decision,
  DecisionSource,
  PermissionBehavior,
  PermissionMode,
  PermissionVerdict,
} from '../../src/index.ts'

/** Everything that decides whether a call may run. */
export interface Voices {
  readonly hook: PermissionVerdict | undefined
  /** The first matching rule of each kind. */
  readonly rules: { readonly [Behavior in PermissionBehavior]?: string | undefined }
  readonly tool: PermissionBehavior | undefined
  readonly mode: PermissionMode
  readonly isReadOnly: boolean
  readonly editsWorkspace: boolean
  /** The host's answer; undefined if there is no host to ask. */
  readonly host: 'allow' | 'deny' | undefined
}

export interface Verdict extends Decision {
  readonly isAsked: boolean
}

/** The contract's order of precedence, strongest first. */
const ranking = [
  'hook says deny',
  'rule says deny',
  'tool says deny',
  'plan says deny',
  'hook says defer',
  'rule says ask',
  'hook says ask',
  'tool says ask',
  'hook says allow',
  'rule says allow',
  'tool says allow',
  'mode says',
]

interface Statement extends Decision {
  readonly rank: number
}

/** The decision of P5 for a call, by sorting all statements. Written from the contract, not from the code. */
export function referenceDecision(voices: Voices): Verdict {
  const [loudest] = statementsOf(voices).sort((one, other) => one.rank - other.rank)
  const { behavior, source } = loudest as Statement
  if (behavior !== 'ask' && behavior !== 'defer') return { behavior, source, isAsked: false }
  const mode = voices.mode
  if (mode === 'dontAsk') return { behavior: 'deny', source: { by: 'mode', mode }, isAsked: false }
  // the test answers deferred questions with no
  if (behavior === 'defer') return { behavior: 'deny', source: { by: 'host' }, isAsked: false }
  // a question that nobody can answer is denied for the missing host
  if (voices.host === undefined) return { behavior: 'deny', source: { by: 'host' }, isAsked: false }
  return { behavior: voices.host, source: { by: 'host' }, isAsked: true }
}

function statementsOf({ hook, rules, tool, mode, isReadOnly, editsWorkspace }: Voices): Statement[] {
  const state = (who: string, behavior: PermissionVerdict | undefined, source: DecisionSource): Statement[] =>
    behavior === undefined ? [] : [{ rank: ranking.indexOf(`${who} says ${behavior}`), behavior, source }]
  const ruled = Object.entries(rules) as [PermissionBehavior, string | undefined][]
  const byMode = { by: 'mode', mode } as const
  return [
    ...state('hook', hook, { by: 'hook' }),
    ...state('tool', tool, { by: 'tool' }),
    ...ruled.flatMap(([behavior, rule]) => (rule === undefined ? [] : state('rule', behavior, { by: 'rule', rule }))),
    ...state('plan', mode === 'plan' && !isReadOnly ? 'deny' : undefined, byMode),
    { rank: ranking.indexOf('mode says'), behavior: wordOfMode[mode](editsWorkspace), source: byMode },
  ]
}

const wordOfMode: { [Mode in PermissionMode]: (editsWorkspace: boolean) => PermissionBehavior } = {
  default: () => 'ask',
  // read-only calls may run in plan mode, but still need an answer
  plan: () => 'ask',
  acceptEdits: (editsWorkspace) => (editsWorkspace ? 'allow' : 'ask'),
  bypassPermissions: () => 'allow',
  dontAsk: () => 'ask',
}
