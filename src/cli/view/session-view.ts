import type { Frame, SaidFrame } from '../../inspect/index.ts'
import type { CallView } from './call-view.ts'
import { RunView } from './run-view.ts'
import { ServerView } from './server-view.ts'

/** Words between the calls: of the user, of the model as they come, or of the program itself. */
export interface SaidView {
  readonly kind: 'said'
  readonly by: SaidFrame['by'] | 'warning'
  text: string
  /** Nothing more will be added. */
  isWhole: boolean
}

export type SessionItem = SaidView | CallView

/**
 * What is drawn, live or from a recording: everything said and called, in order. It comes from frames and from nowhere
 * else, and may come from anybody: what does not fit is passed over.
 */
export class SessionView {
  readonly items: SessionItem[] = []
  readonly #runs = new Map<number, RunView>()
  readonly #servers = new Map<number, ServerView>()
  /** The runs of agents: each is one line, that of its call. */
  readonly #agents = new Set<number>()
  #calls = 0

  take(frame: Frame): void {
    if (frame.type === 'run' && frame.inside !== undefined) this.#agents.add(frame.run)
    if (this.isOfAgent(frame)) return
    if (frame.type === 'said') return this.#say(frame.by, frame.text)
    if (frame.type === 'warning') return this.#note('warning', frame.message)
    if (frame.type === 'gap') return this.#note('warning', `Something is missing here (${frame.because}).`)
    if (frame.type === 'run') return this.#begin(frame.run)
    if (frame.type === 'server') return void this.#servers.set(frame.run, new ServerView(frame))
    this.#servers.get(frame.run)?.take(frame)
    const run = this.#runs.get(frame.run)
    if (frame.type !== 'call') return run?.take(frame)
    const call = run?.meet(frame, this.#calls + 1)
    if (call === undefined) return
    this.#calls++
    this.endSaying()
    this.items.push(call)
  }

  isOfAgent({ run }: Frame): boolean {
    return this.#agents.has(run)
  }

  find(call: string, run?: number): CallView | undefined {
    if (run !== undefined) return this.#runs.get(run)?.find(call)
    return [...this.#runs.values()].findLast((each) => each.find(call) !== undefined)?.find(call)
  }

  /** The server that a call waits for, which has to be there first. */
  serverFor({ id }: CallView): ServerView | undefined {
    for (const server of this.#servers.values()) if (server.isAwaitedBy(id)) return server
    return undefined
  }

  /** Whom the result of a finished call waits for. */
  heldFor({ run, id }: CallView): CallView | undefined {
    const next = this.#runs.get(run)?.next
    return next?.id === id ? undefined : next
  }

  /** All that was said so far is whole. */
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

  #begin(run: number): void {
    this.endSaying()
    if (!this.#runs.has(run)) this.#runs.set(run, new RunView())
  }
}
