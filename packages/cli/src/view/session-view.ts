import type { CallState, Frame, FrameOf, SaidFrame, WaitGroup } from 'signalbox/inspect'
import type { CallView } from './call-view.ts'
import { RunView } from './run-view.ts'
import { ServerView } from './server-view.ts'

/** Texts between the calls: of the user, of the model as it streams, or of the program itself. */
export interface SaidView {
  readonly kind: 'said'
  readonly by: SaidFrame['by'] | 'warning'
  text: string
  /** No more text will be added. */
  isWhole: boolean
}

export type SessionItem = SaidView | CallView

/**
 * The drawn session, live or from a recording: all texts and calls, in order. Built from frames only, which may be
 * untrusted: frames that do not fit are ignored.
 */
export class SessionView {
  readonly items: SessionItem[] = []
  /** Calls without a result are kept in a journal. */
  isSuspended = false
  readonly #runs = new Map<number, RunView>()
  readonly #servers = new Map<number, ServerView>()
  /** The runs of agents: each is one line, that of its call. */
  readonly #agents = new Set<number>()
  #calls = 0

  take(frame: Frame): void {
    if (frame.type === 'run' && frame.parentToolUseID !== undefined) this.#agents.add(frame.run)
    if (this.isOfAgent(frame)) return
    if (frame.type === 'said') return this.#say(frame.by, frame.text)
    if (frame.type === 'warning') return this.#note('warning', frame.message)
    if (frame.type === 'gap') return this.#note('warning', `Frames are missing here (${frame.because}).`)
    if (frame.type === 'run') return this.#begin(frame)
    if (frame.type === 'server') return void this.#servers.set(frame.run, new ServerView(frame))
    this.#servers.get(frame.run)?.take(frame)
    this.#runs.get(frame.run)?.take(frame)
  }

  isOfAgent({ run }: Frame): boolean {
    return this.#agents.has(run)
  }

  find(call: string, run?: number): CallView | undefined {
    if (run !== undefined) return this.#runs.get(run)?.find(call)
    return [...this.#runs.values()].findLast((each) => each.find(call) !== undefined)?.find(call)
  }

  /** The server that a call waits for. */
  serverFor({ id }: CallView): ServerView | undefined {
    for (const server of this.#servers.values()) if (server.isAwaitedBy(id)) return server
    return undefined
  }

  /** Why a call has not started. */
  waitOf(call: CallView): WaitGroup | undefined {
    return this.#runs.get(call.run)?.waitOf(call)
  }

  /** How many calls of its run may execute in parallel. */
  limitOf({ run }: CallView): number | null {
    return this.#runs.get(run)?.maxConcurrency ?? null
  }

  isInQuery({ run }: CallView): boolean {
    return this.#runs.get(run)?.isInQuery === true
  }

  /** The call that the result of a finished call waits for. */
  heldFor({ run, id }: CallView): CallView | undefined {
    const next = this.#runs.get(run)?.next
    return next?.id === id ? undefined : next
  }

  /** All texts so far are complete. */
  endSaying(): void {
    const last = this.items.at(-1)
    if (last?.kind === 'said') last.isWhole = true
  }

  #say(by: SaidFrame['by'], text: string): void {
    const last = this.items.at(-1)
    if (last?.kind === 'said' && last.by === by && !last.isWhole) last.text += text
    else this.#note(by, text, by === 'host' || by === 'user')
  }

  #note(by: SaidView['by'], text: string, isWhole = true): void {
    this.endSaying()
    this.items.push({ kind: 'said', by, text, isWhole })
  }

  #begin(frame: FrameOf<'run'>): void {
    this.endSaying()
    const { run } = frame
    if (this.#runs.has(run)) return
    this.#runs.set(run, new RunView(frame, (state, isDiscarded) => this.#addCall(run, state, isDiscarded)))
  }

  #addCall(run: number, state: CallState, isDiscarded: boolean): CallView {
    const call: CallView = {
      ...state,
      kind: 'call',
      run,
      number: ++this.#calls,
      state: '',
      ranAt: undefined,
      completedAt: undefined,
      output: { text: '', lines: 0 },
      progress: undefined,
      result: undefined,
      stoppedBy: undefined,
      isDiscarded,
    }
    this.endSaying()
    this.items.push(call)
    return call
  }
}
