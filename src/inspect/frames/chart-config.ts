import type { ChartDefinition, ChartNode, ChartTransition } from './chart-definition.ts'

/** A state as an XState 5 configuration, with names in place of functions. */
export interface StateConfig {
  readonly type?: 'parallel' | 'final' | 'history'
  readonly initial?: string
  readonly entry?: OneOrMore<string>
  readonly exit?: OneOrMore<string>
  readonly tags?: OneOrMore<string>
  readonly on?: { readonly [event: string]: OneOrMore<TransitionConfig> }
  readonly always?: OneOrMore<TransitionConfig>
  readonly states?: { readonly [key: string]: StateConfig }
}

export interface TransitionConfig {
  readonly target?: OneOrMore<string>
  readonly guard?: string
  readonly actions?: OneOrMore<string>
}

/** A single value is not wrapped: some tools read only a few levels deep. */
export type OneOrMore<Value> = Value | readonly Value[]

/** Converts the chart to an XState configuration, for tools that draw those. */
export function chartConfig({ id, nodes, transitions }: ChartDefinition): StateConfig & { readonly id: string } {
  const known = new Map(nodes.map((node) => [node.id, node]))
  const nameOf = (node: ChartNode | undefined): string =>
    node === undefined || node.parent === null ? `#${id}` : `${nameOf(known.get(node.parent))}.${node.key}`
  const child = (parent: ChartNode, below: ChartNode | undefined): ChartNode | undefined =>
    below === undefined || below.parent === parent.id ? below : child(parent, known.get(below.parent ?? -1))

  const transition = ({ targets, guard, actions }: ChartTransition): TransitionConfig => ({
    ...(targets.length > 0 && { target: oneOrMore(targets.map((each) => nameOf(known.get(each)))) }),
    ...(guard !== null && { guard }),
    ...(actions.length > 0 && { actions: oneOrMore(actions) }),
  })

  const state = (node: ChartNode): StateConfig => {
    const own = transitions.filter(({ source }) => source === node.id)
    const events = [...new Set(own.map(({ event }) => event))]
    const after = (event: string): OneOrMore<TransitionConfig> =>
      oneOrMore(own.filter((each) => each.event === event).map(transition))
    const named = events.filter((event) => event !== '')
    const below = nodes.filter(({ parent }) => parent === node.id)
    const initial = node.initial === null ? undefined : child(node, known.get(node.initial))
    return {
      ...(node.kind !== 'atomic' && node.kind !== 'compound' && { type: node.kind }),
      ...(initial !== undefined && { initial: initial.key }),
      ...(node.entry.length > 0 && { entry: oneOrMore(node.entry) }),
      ...(node.exit.length > 0 && { exit: oneOrMore(node.exit) }),
      ...(node.tags.length > 0 && { tags: oneOrMore(node.tags) }),
      ...(named.length > 0 && { on: Object.fromEntries(named.map((event) => [event, after(event)])) }),
      ...(events.includes('') && { always: after('') }),
      ...(below.length > 0 && { states: Object.fromEntries(below.map((each) => [each.key, state(each)])) }),
    }
  }
  const [root] = nodes
  return { id, ...(root !== undefined && state(root)) }
}

const oneOrMore = <Value>(list: readonly Value[]): OneOrMore<Value> => (list.length === 1 ? (list[0] as Value) : list)
