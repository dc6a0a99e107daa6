import type { AnyMachineSnapshot, AnyStateMachine, AnyStateNode, AnyTransitionDefinition } from 'xstate'
import { type ChartAction, compileAction } from './chart-actions.ts'
import type { Content } from './chart-step.ts'
import { innermostFirst, inOrder, isOver, withInitialStates } from './chart-tree.ts'
import { Configuration } from './configuration.ts'
import type { Effect } from './move.ts'
import { refuseUnsupported } from './refuse-unsupported.ts'
import { EntrySet, exitSetOf, withoutConflicts } from './transition-sets.ts'

type Actions = AnyTransitionDefinition['actions']
type Transitions = readonly AnyTransitionDefinition[]

/** The configurations of a chart and the moves between them, each computed at first use. */
export class ChartTable {
  readonly machine: AnyStateMachine
  readonly #compiled: AnyStateMachine
  /** A snapshot created by XState; ours differ only in the fields that a step can change. */
  #template: AnyMachineSnapshot | undefined
  readonly eventTypes: ReadonlySet<string>
  /** The configuration before any state is entered. */
  readonly unentered: Configuration
  /** The first snapshot of every actor. */
  readonly blank: AnyMachineSnapshot
  readonly initial: Effect
  readonly #configurations = new Map<string, Configuration>()
  readonly #byNodes = new WeakMap<object, Configuration>()
  readonly #numbers = new Map<AnyTransitionDefinition, number>()

  /** Snapshots refer to the compiled machine. */
  constructor(machine: AnyStateMachine, compiled: AnyStateMachine) {
    refuseUnsupported(machine)
    this.machine = machine
    this.#compiled = compiled
    this.eventTypes = new Set(withEveryState(machine.root).flatMap(({ transitions }) => [...transitions.keys()]))
    const { root } = machine
    this.unentered = this.#configurationWith([root])
    const begin = { source: root, target: withInitialStates(root), reenter: true, actions: [] as Actions }
    this.blank = this.unentered.snapshotOf({ context: {}, children: {}, status: 'active', output: undefined })
    this.initial = this.#effect(this.unentered, [begin as never], new Set([root]), [])
  }

  /** Looks up the nodes of a snapshot, which XState may have created. */
  configurationOf({ _nodes: nodes }: AnyMachineSnapshot): Configuration {
    return this.#byNodes.get(nodes) ?? this.#configurationWith(nodes)
  }

  snapshotOf({ nodes, value, tags }: Configuration, content: Content): AnyMachineSnapshot {
    this.#template ??= this.machine.resolveState({ value: this.unentered.value, context: {} } as never)
    const { error, historyValue, matches, hasTag, can, getMeta, toJSON } = this.#template
    return {
      status: content.status,
      output: content.output,
      error,
      machine: this.#compiled,
      context: content.context,
      _nodes: nodes,
      value,
      tags,
      children: content.children,
      historyValue,
      matches,
      hasTag,
      can,
      getMeta,
      toJSON,
    } as AnyMachineSnapshot
  }

  numberOf(transition: AnyTransitionDefinition): number {
    const known = this.#numbers.get(transition)
    if (known !== undefined) return known
    this.#numbers.set(transition, this.#numbers.size)
    return this.#numbers.size - 1
  }

  effectOf(from: Configuration, selected: Transitions): Effect {
    const active = new Set(from.nodes)
    const transitions = withoutConflicts(selected, active)
    const exited = innermostFirst(exitSetOf(transitions, active))
    for (const node of exited) active.delete(node)
    return this.#effect(from, transitions, active, exited)
  }

  #effect(from: Configuration, transitions: Transitions, active: Set<AnyStateNode>, exited: AnyStateNode[]): Effect {
    const actions = this.#compile([
      ...exited.flatMap(({ exit }) => exit),
      ...transitions.flatMap((each) => each.actions),
    ])
    const { entered, byDefault } = new EntrySet(transitions)
    const over = new Set<AnyStateNode>()
    let isDone = false
    for (const node of inOrder(entered)) {
      active.add(node)
      actions.push(...this.#compile(node.entry))
      if (byDefault.has(node)) actions.push(...this.#compile(node.initial.actions))
      if (node.type === 'final') isDone = this.#tellOver(node, active, over, actions) || isDone
    }
    const nodes = isDone ? innermostFirst(active) : [...active]
    if (isDone) actions.push(...this.#compile(nodes.flatMap(({ exit }) => exit)))
    const isSame = from.nodes.length === active.size && from.nodes.every((node) => active.has(node))
    return { transitions, actions, next: isSame ? from : this.#configurationWith(nodes) }
  }

  /** After a final state was entered: finds the states around it that are completed, and returns whether the chart is. */
  #tellOver(
    final: AnyStateNode,
    active: ReadonlySet<AnyStateNode>,
    over: Set<AnyStateNode>,
    actions: ChartAction[],
  ): boolean {
    const { parent, output } = final
    let around = parent?.type === 'parallel' ? parent : parent?.parent
    let last = around ?? final
    const isLast = parent?.type === 'compound' && parent.parent === undefined
    // the chart ends before the done event, but XState still calls the output function
    if (isLast && output !== undefined) actions.push((step) => void step.outputOf(output))
    if (parent?.type === 'compound' && !isLast) {
      const type = `xstate.done.state.${parent.id}`
      actions.push((step) => step.raise({ type, output: output === undefined ? undefined : step.outputOf(output) }))
    }
    while (around?.type === 'parallel' && !over.has(around) && isOver(around, active)) {
      over.add(around)
      const type = `xstate.done.state.${around.id}`
      actions.push((step) => step.raise({ type, output: undefined }))
      last = around
      around = around.parent
    }
    if (around !== undefined) return false
    const { root } = this.machine
    actions.push((step) => step.finish(last, root))
    return true
  }

  #compile(actions: Actions): ChartAction[] {
    return actions.map((action) => compileAction(this.machine, action))
  }

  #configurationWith(nodes: readonly AnyStateNode[]): Configuration {
    const key = nodes.map(({ order }) => order).join()
    let found = this.#configurations.get(key)
    if (found === undefined) {
      found = new Configuration(this, nodes)
      this.#configurations.set(key, found)
    }
    this.#byNodes.set(nodes, found)
    return found
  }
}

const withEveryState = (node: AnyStateNode): AnyStateNode[] => [
  node,
  ...Object.values(node.states).flatMap((child) => withEveryState(child as AnyStateNode)),
]
