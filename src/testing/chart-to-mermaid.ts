import type { AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate'

/** The chart as Mermaid text, from the machine's own definition: every state, transition and guard. */
export function chartToMermaid(machine: AnyStateMachine): string {
  const { root } = machine
  const arrows = nodesOf(root).flatMap((node) => transitionsFrom(node).flatMap((each) => arrowsOf(node, root, each)))
  return ['stateDiagram-v2', ...insideOf(root, root, '  '), ...unique(arrows).map((arrow) => `  ${arrow}`)].join('\n')
}

const statesOf = (node: AnyStateNode): AnyStateNode[] => Object.values(node.states) as AnyStateNode[]

const nodesOf = (node: AnyStateNode): AnyStateNode[] => [node, ...statesOf(node).flatMap(nodesOf)]

const unique = (lines: readonly string[]): string[] => [...new Set(lines)]

/** Mermaid ids cannot contain dots. */
const idOf = (node: AnyStateNode): string => node.path.join('_') || node.key

function insideOf(node: AnyStateNode, root: AnyStateNode, indent: string): string[] {
  const states = statesOf(node)
  if (node.type === 'parallel') {
    // parallel regions go into one box, separated by lines
    const regions = states.flatMap((state, at) => [
      ...(at > 0 ? [`${indent}  --`] : []),
      ...stateLines(state, root, `${indent}  `),
    ])
    return [`${indent}state ${root.key} {`, ...regions, `${indent}}`]
  }
  const initial = node.initial.target[0] as AnyStateNode | undefined
  return [
    ...(initial === undefined ? [] : [`${indent}[*] --> ${idOf(initial)}`]),
    ...states.flatMap((state) => stateLines(state, root, indent)),
    ...states.filter(({ type }) => type === 'final').map((state) => `${indent}${idOf(state)} --> [*]`),
  ]
}

function stateLines(state: AnyStateNode, root: AnyStateNode, indent: string): string[] {
  const named = `${indent}state "${state.key}" as ${idOf(state)}`
  if (statesOf(state).length === 0) return [named]
  return [`${named} {`, ...insideOf(state, root, `${indent}  `), `${indent}}`]
}

function transitionsFrom(node: AnyStateNode): AnyTransitionDefinition[] {
  return [...node.transitions.values(), ...(node.always === undefined ? [] : [node.always])].flat()
}

function arrowsOf(
  node: AnyStateNode,
  root: AnyStateNode,
  { eventType, target, guard }: AnyTransitionDefinition,
): string[] {
  const label = `${eventNameOf(eventType)}${guardOf(guard)}`
  const targets = (target ?? [node]) as AnyStateNode[]
  // an arrow from the whole chart to itself adds nothing to the picture
  return targets.filter(() => node !== root).map((to) => `${idOf(node)} --> ${idOf(to)}: ${label}`)
}

/** XState's event name for a delay also contains the state. */
function eventNameOf(type: string): string {
  const delay = /^xstate\.after\.([^.]+)/.exec(type)?.[1]
  return delay === undefined ? type || 'always' : `after ${delay}`
}

function guardOf(guard: unknown): string {
  if (guard === undefined) return ''
  if (typeof guard === 'string') return ` [${guard}]`
  const { type, params } = guard as { type?: string; params?: unknown }
  return typeof params === 'string' ? ` [${type} ${params}]` : ` [${type ?? 'guard'}]`
}
