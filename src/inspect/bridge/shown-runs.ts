import type { Command } from '../frames/frame.ts'
import { type Connection, isConnection } from '../recorder/connection.ts'
import type { Recorder, WatchedAs } from '../recorder/recorder.ts'
import {
  assertShowable,
  type Commandable,
  type Commands,
  type Conversation,
  isConversation,
  type Showable,
} from '../recorder/showable.ts'
import { type CommandRequest, runCommand } from './run-command.ts'

const allCommands: readonly Command[] = ['interrupt', 'abort', 'discard', 'answer']

/** A title, and the call that a sub-agent's run works for. */
export type ShownAs = Pick<WatchedAs, 'title' | 'parentToolUseID'>

interface Source {
  readonly shown: Commandable | Connection
  /** What receives commands: the query, or the executor if there is no query. */
  readonly commanded: Commands | undefined
  readonly as: WatchedAs
  watch: { readonly run: number; leave(): void } | undefined
}

/** The executors, queries and connections that are shown, their commands, and one recorder while anyone watches. */
export class ShownRuns {
  readonly allowed: readonly Command[]
  readonly #sources = new Set<Source>()
  #recorder: Recorder | undefined

  constructor(commands: boolean | readonly Command[] = false) {
    this.allowed = commands === true ? allCommands : commands === false ? [] : commands
  }

  add(shown: Showable, as: ShownAs = {}): () => void {
    assertShowable(shown)
    return isConversation(shown) ? this.#addConversation(shown, as) : this.#addOne(shown, as)
  }

  /** Starts recording everything that is shown. */
  begin(recorder: Recorder): void {
    this.#recorder = recorder
    for (const source of this.#sources) source.watch = recorder.watch(source.shown, source.as)
  }

  end(): void {
    for (const source of this.#sources) source.watch?.leave()
    this.#recorder = undefined
  }

  /** Returns undefined if the command ran, otherwise why not. */
  command(request: CommandRequest): string | undefined {
    if (!this.allowed.includes(request.command)) return 'The host does not allow this command from the browser.'
    const source = [...this.#sources].find(({ watch }) => watch?.run === request.run)
    if (source !== undefined && isConnection(source.shown)) return 'Connections accept no commands.'
    try {
      return runCommand(source?.commanded, request)
    } catch {
      return 'The executor did not accept the command.'
    }
  }

  /** Attempts do not overlap: the previous one is over when the next begins. */
  #addConversation(query: Conversation, { title = 'turn', parentToolUseID }: ShownAs): () => void {
    let turns = 0
    let leave = (): void => undefined
    const show = (executor: Commandable): void => {
      leave()
      const as = { title: `${title} ${++turns}`, queryActor: query.actor, parentToolUseID }
      leave = this.#addOne(executor, as, commandsOf(query, executor))
    }
    const { executor } = query
    if (executor.actor.getSnapshot().context.run.calls.length > 0) show(executor)
    const stop = query.onExecutor(show)
    return () => {
      stop()
      leave()
    }
  }

  #addOne(
    shown: Commandable | Connection,
    as: WatchedAs,
    commanded: Commands | undefined = isConnection(shown) ? undefined : shown,
  ): () => void {
    const source: Source = { shown, commanded, as, watch: this.#recorder?.watch(shown, as) }
    this.#sources.add(source)
    return () => {
      this.#sources.delete(source)
      source.watch?.leave()
    }
  }
}

/** Commands go to the query: aborting only its executor would make the query ask the model again. */
const commandsOf = (query: Conversation, executor: Commandable): Commands => ({
  abort: (reason) => (reason === 'interrupt' ? query.interrupt() : query.abort(reason)),
  answer: (id, answer) => executor.answer?.(id, answer) === true,
})
