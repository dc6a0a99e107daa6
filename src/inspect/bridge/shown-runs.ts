import type { QueryMessage } from '../../query/query-message.ts'
import type { Command } from '../frames/frame.ts'
import { type Connection, isConnection } from '../recorder/connection-watch.ts'
import { ruleFor } from '../recorder/consent-frames.ts'
import type { Recorder, WatchedAs } from '../recorder/recorder.ts'
import {
  assertShowable,
  type Commandable,
  type Commands,
  type Conversation,
  isConversation,
  type Showable,
} from '../recorder/showable.ts'
import { lastPrompt, limitWords, recordTalk } from './conversation-talk.ts'
import { type CommandRequest, runCommand } from './run-command.ts'

const allCommands: readonly Command[] = ['interrupt', 'abort', 'discard', 'answer', 'detach']

/** A title, and the call that a sub-agent's run works for. */
export type ShownAs = Pick<WatchedAs, 'title' | 'parentToolUseID'>

interface Source {
  readonly shown: Commandable | Connection
  /** The receiver of commands: the query, or the executor if there is no query. */
  readonly commanded: Commands | undefined
  readonly as: WatchedAs
  /** Called once the recorder watches it. */
  readonly onWatched?: ((run: number, recorder: Recorder) => void) | undefined
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
    return isConversation(shown) ? this.#addConversation(shown, as) : this.#addOne(shown, as).leave
  }

  /** Starts recording everything that is shown. */
  begin(recorder: Recorder): void {
    this.#recorder = recorder
    for (const source of this.#sources) watch(source, recorder)
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
    let current: { readonly source: Source; leave(): void } | undefined
    const prompted = new WeakSet<Recorder>()
    /** From before the first turn: that a reply of an earlier run was discarded. */
    const early: QueryMessage[] = []
    const onWatched = (run: number, recorder: Recorder): void => {
      if (prompted.has(recorder)) return
      prompted.add(recorder)
      const prompt = lastPrompt(query.transcript ?? [])
      if (prompt !== '') recorder.say(run, 'user', prompt)
      for (const message of early) recordTalk(recorder, run, message)
    }
    const show = (executor: Commandable): void => {
      current?.leave()
      const { actor: queryActor, recovered } = query
      const as = { title: `${title} ${++turns}`, queryActor, parentToolUseID, recovered }
      current = this.#addOne(executor, as, commandsOf(query, executor), onWatched)
    }
    const stopTalk = query.onMessage?.((message) => {
      const run = current?.source.watch?.run
      if (current === undefined && message.type === 'system') early.push(message)
      else if (run !== undefined && this.#recorder !== undefined) recordTalk(this.#recorder, run, message)
    })
    const ending = query.actor?.subscribe(({ status, context }) => {
      const run = current?.source.watch?.run
      if (status !== 'done' || context.limit === undefined || run === undefined) return
      this.#recorder?.say(run, 'host', limitWords(context.limit))
    })
    const { executor } = query
    if (executor.actor.getSnapshot().context.run.calls.length > 0) show(executor)
    const stop = query.onExecutor(show)
    return () => {
      stop()
      stopTalk?.()
      ending?.unsubscribe()
      current?.leave()
    }
  }

  #addOne(
    shown: Commandable | Connection,
    as: WatchedAs,
    commanded: Commands | undefined = isConnection(shown) ? undefined : ownCommands(shown),
    onWatched?: Source['onWatched'],
  ): { readonly source: Source; leave(): void } {
    const source: Source = { shown, commanded, as, onWatched, watch: undefined }
    if (this.#recorder !== undefined) watch(source, this.#recorder)
    this.#sources.add(source)
    const leave = (): void => {
      this.#sources.delete(source)
      source.watch?.leave()
    }
    return { source, leave }
  }
}

function watch(source: Source, recorder: Recorder): void {
  source.watch = recorder.watch(source.shown, source.as)
  source.onWatched?.(source.watch.run, recorder)
}

const ownCommands = (executor: Commandable): Commands => ({
  abort: (reason) => executor.abort(reason),
  discard: () => executor.discard?.(),
  answer: (id, answer) => executor.answer?.(id, answer) === true,
  detach: (id) => executor.detach?.(id) === true,
  ruleFor: (id) => ruleFor(executor, id),
})

/** Commands go to the query: aborting only its executor would make the query ask the model again. */
const commandsOf = (query: Conversation, executor: Commandable): Commands => ({
  abort: (reason) => (reason === 'interrupt' ? query.interrupt() : query.abort(reason)),
  answer: (id, answer) => executor.answer?.(id, answer) === true,
  detach: (id) => executor.detach?.(id) === true,
  ruleFor: (id) => ruleFor(executor, id),
})
