import type { AnyStateNode, AnyTransitionDefinition } from 'xstate'
import { ancestorsOf, childrenOf, initialOf, isBelow } from './chart-tree.ts'

type Transition = Pick<AnyTransitionDefinition, 'source' | 'target' | 'reenter'>
type Active = ReadonlySet<AnyStateNode>

/** The innermost state that a transition does not leave; undefined if it leaves even the root. */
function domainOf({ source, target = [], reenter }: Transition): AnyStateNode | undefined {
  if (!reenter && target.every((node) => node === source || isBelow(node, source))) return source
  const touched = [...target, source]
  const [first = source] = touched
  const shared = ancestorsOf(first).find((ancestor) => touched.slice(1).every((node) => isBelow(node, ancestor)))
  return shared ?? (reenter ? undefined : source.machine.root)
}

export function exitSetOf(transitions: readonly Transition[], active: Active): Set<AnyStateNode> {
  const exited = new Set<AnyStateNode>()
  for (const transition of transitions) {
    if (transition.target === undefined || transition.target.length === 0) continue
    const domain = domainOf(transition)
    if (transition.reenter && transition.source === domain) exited.add(domain)
    for (const node of active) if (isBelow(node, domain)) exited.add(node)
  }
  return exited
}

/** Of transitions that would leave the same state, the innermost is taken; of siblings, the first. */
export function withoutConflicts<Each extends Transition>(transitions: readonly Each[], active: Active): Each[] {
  if (transitions.length < 2) return [...transitions]
  const kept = new Map<Each, Set<AnyStateNode>>()
  for (const transition of transitions) {
    const exited = exitSetOf([transition], active)
    const rivals = [...kept].filter(([, others]) => [...others].some((node) => exited.has(node)))
    // in the order in which they were kept, ending at the first rival that wins
    const loses = rivals.some(([rival]) => !isBelow(transition.source, rival.source))
    if (loses) continue
    for (const [rival] of rivals) kept.delete(rival)
    kept.set(transition, exited)
  }
  return [...kept.keys()]
}

/** The entered states, and those whose initial transition is taken with its actions. */
export class EntrySet {
  readonly entered = new Set<AnyStateNode>()
  readonly byDefault = new Set<AnyStateNode>()

  constructor(transitions: readonly Transition[]) {
    for (const transition of transitions) this.#add(transition)
  }

  #add(transition: Transition): void {
    const { source, target = [], reenter } = transition
    const domain = domainOf(transition)
    for (const node of target) {
      if (node !== source || domain !== source || reenter) this.#addByDefault(node)
      this.#addInside(node)
    }
    const outermost = source.parent === undefined && reenter ? undefined : domain
    for (const node of target) {
      const around = ancestorsOf(node, domain)
      this.#addAround(domain?.type === 'parallel' ? [...around, domain] : around, outermost)
    }
  }

  #addByDefault(node: AnyStateNode): void {
    this.entered.add(node)
    this.byDefault.add(node)
  }

  /** Adds the states that are entered inside an entered state. */
  #addInside(node: AnyStateNode): void {
    if (node.type === 'compound') {
      const [initial] = initialOf(node) as [AnyStateNode]
      this.#addByDefault(initial)
      this.#addInside(initial)
      this.#addAround(ancestorsOf(initial, node), undefined)
    } else if (node.type === 'parallel') {
      for (const region of this.#untouchedRegions(node)) {
        this.#addByDefault(region)
        this.#addInside(region)
      }
    }
  }

  /** Adds the ancestors of an entered state, and their other regions. */
  #addAround(ancestors: readonly AnyStateNode[], outermost: AnyStateNode | undefined): void {
    for (const ancestor of ancestors) {
      if (isBelow(ancestor, outermost)) this.entered.add(ancestor)
      if (ancestor.type !== 'parallel') continue
      for (const region of this.#untouchedRegions(ancestor)) {
        this.entered.add(region)
        this.#addInside(region)
      }
    }
  }

  /** A generator, because entering one region may also enter another. */
  *#untouchedRegions(node: AnyStateNode): Iterable<AnyStateNode> {
    for (const region of childrenOf(node)) {
      if (![...this.entered].some((each) => isBelow(each, region))) yield region
    }
  }
}
