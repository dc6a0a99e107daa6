import { type Connection, isConnection } from './connection.ts'
import type { Command } from './frame.ts'
import type { Recorder, WatchedAs } from './recorder.ts'
import { type CommandRequest, runCommand } from './run-command.ts'
import { assertShowable, type Commandable, type Conversation, isConversation, type Showable } from './showable.ts'

const allCommands: readonly Command[] = ['interrupt', 'abort', 'discard', 'answer']

/** What is said of it beside itself: a title, and the call that it is the work of. */
export type ShownAs = Pick<WatchedAs, 'title' | 'inside'>

interface Source {
  readonly shown: Commandable | Connection
  readonly as: WatchedAs
  watch: { readonly run: number; leave(): void } | undefined
}

/** The executors, queries and connections that are shown, one recorder over them while it is wanted, and the commands they take. */
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

  /** Everything is written down from here on. */
  begin(recorder: Recorder): void {
    this.#recorder = recorder
    for (const source of this.#sources) source.watch = recorder.watch(source.shown, source.as)
  }

  end(): void {
    for (const source of this.#sources) source.watch?.leave()
    this.#recorder = undefined
  }

  /** Undefined where it was done, else why not. */
  command(request: CommandRequest): string | undefined {
    if (!this.allowed.includes(request.command)) return 'The host did not allow this from the browser.'
    const shown = [...this.#sources].find(({ watch }) => watch?.run === request.run)?.shown
    if (shown !== undefined && isConnection(shown)) return 'A connection takes no commands.'
    try {
      return runCommand(shown, request)
    } catch {
      return 'The executor did not take it.'
    }
  }

  /** One attempt at a time: when the next one begins, the one before is over. */
  #addConversation(query: Conversation, { title = 'turn', inside }: ShownAs): () => void {
    let turns = 0
    let leave = (): void => undefined
    const show = (executor: Commandable): void => {
      leave()
      leave = this.#addOne(executor, { title: `${title} ${++turns}`, around: query.actor, inside })
    }
    const { executor } = query
    if (executor.actor.getSnapshot().context.run.calls.length > 0) show(executor)
    const stop = query.onExecutor(show)
    return () => {
      stop()
      leave()
    }
  }

  #addOne(shown: Commandable | Connection, as: WatchedAs): () => void {
    const source: Source = { shown, as, watch: this.#recorder?.watch(shown, as) }
    this.#sources.add(source)
    return () => {
      this.#sources.delete(source)
      source.watch?.leave()
    }
  }
}
