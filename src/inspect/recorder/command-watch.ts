import type { AnyActorRef, AnyMachineSnapshot } from 'xstate'
import { takeableCommands } from '../frames/commands.ts'
import type { CanFrame, Command } from '../frames/frame.ts'

/** Finds the commands that the chart accepts: that of the query, if the executor belongs to one. */
export class CommandWatch {
  readonly #executor: AnyActorRef
  readonly #query: AnyActorRef | undefined
  #told: readonly Command[] = []

  constructor(executor: AnyActorRef, query: AnyActorRef | undefined) {
    this.#executor = executor
    this.#query = query
  }

  /** All commands, for a new reader. */
  picture(): CanFrame {
    const query: AnyMachineSnapshot | undefined = this.#query?.getSnapshot()
    this.#told = takeableCommands(this.#executor.getSnapshot(), query)
    return { type: 'can', commands: this.#told }
  }

  /** Undefined if the commands are the same. Takes the snapshot: in the middle of a step the actor still has its old one. */
  change(actor: AnyActorRef, snapshot: AnyMachineSnapshot): CanFrame | undefined {
    if (actor !== (this.#query ?? this.#executor)) return undefined
    const commands = takeableCommands(snapshot, this.#query === undefined ? undefined : snapshot)
    if (commands.join() === this.#told.join()) return undefined
    this.#told = commands
    return { type: 'can', commands }
  }
}
