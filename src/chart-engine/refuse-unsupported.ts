import type { AnyStateMachine, AnyStateNode } from 'xstate'
import { childrenOf } from './chart-tree.ts'

/** Throws before a chart runs if the table would not run it like XState; the error names the feature. */
export function refuseUnsupported(machine: AnyStateMachine): void {
  if (Number.isFinite(machine.options?.maxIterations)) refuse('options.maxIterations', machine.id)
  for (const [name, action] of Object.entries(machine.implementations.actions)) {
    if (typeof action !== 'function') refuse('an action implementation that is not a function', name)
  }
  refuseIn(machine.root)
}

function refuseIn(node: AnyStateNode): void {
  if (node.invoke.length > 0) refuse('invoke', node.id)
  if (node.type === 'history') refuse('history', node.id)
  for (const eventType of node.transitions.keys()) if (isWildcard(eventType)) refuse('wildcards', node.id)
  for (const child of childrenOf(node)) refuseIn(child)
}

const isWildcard = (eventType: string): boolean => eventType === '*' || eventType.endsWith('.*')

function refuse(feature: string, where: string): never {
  throw new Error(`The table engine does not support ${feature} (${where}). Run this chart on plain XState.`)
}
