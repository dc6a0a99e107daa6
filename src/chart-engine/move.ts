import type { AnyTransitionDefinition } from 'xstate'
import type { ChartAction } from './chart-actions.ts'
import { type Asked, type ChartGuard, compileGuard } from './chart-guards.ts'
import type { ChartTable } from './chart-table.ts'
import type { Configuration } from './configuration.ts'

/** A transition in a configuration. Its effect is computed when it is first taken. */
export class Move {
  readonly transition: AnyTransitionDefinition
  /** The transition alone, as reported to inspectors. */
  readonly taken: readonly [AnyTransitionDefinition]
  readonly #table: ChartTable
  readonly #from: Configuration
  #effect: Effect | undefined
  #guard: unknown
  #test: ChartGuard | undefined

  constructor(table: ChartTable, from: Configuration, transition: AnyTransitionDefinition) {
    this.#table = table
    this.#from = from
    this.transition = transition
    this.taken = [transition]
  }

  isOpen(asked: Asked): boolean {
    const { guard, eventType } = this.transition
    // the definition is the source of truth, even if it is changed later
    if (guard !== this.#guard) {
      this.#guard = guard
      const isOpen = eventType === '' ? guard === undefined : !guard
      this.#test = isOpen ? undefined : compileGuard(this.#table.machine, guard)
    }
    if (this.#test === undefined) return true
    if (eventType === '') return this.#test(asked)
    try {
      return this.#test(asked)
    } catch (error) {
      throw this.#asXStateTellsIt(error, asked.event.type)
    }
  }

  get effect(): Effect {
    this.#effect ??= this.#table.effectOf(this.#from, this.taken)
    return this.#effect
  }

  #asXStateTellsIt(error: unknown, eventType: string): Error {
    const { guard, source } = this.transition
    const name = typeof guard === 'string' ? guard : typeof guard === 'object' ? (guard as { type: string }).type : ''
    const { message } = error as Error
    const which = name ? `'${name}' ` : ''
    return new Error(
      `Unable to evaluate guard ${which}in transition for event '${eventType}' in state node '${source.id}':\n${message}`,
    )
  }
}

/** The actions and the target of transitions. */
export interface Effect {
  /** The transitions that are taken: of two that would leave the same state, only one is. */
  readonly transitions: readonly AnyTransitionDefinition[]
  readonly actions: readonly ChartAction[]
  readonly next: Configuration
}
