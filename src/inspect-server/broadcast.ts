import type { Duplex } from 'node:stream'
import { type Command, createRecorder, type Recorder, type WatchedAs } from '../inspect/index.ts'
import { RecordingChecks } from '../testing/recording-checks.ts'
import { type ClientMessage, readClientMessage } from './client-message.ts'
import { FrameHistory } from './frame-history.ts'
import { InspectorClient } from './inspector-client.ts'
import type { InspectorOptions } from './inspector-options.ts'
import { type Commandable, type Conversation, isConversation, runCommand, type Showable } from './run-command.ts'
import { WebSocket } from './web-socket.ts'

/** What a browser can draw in one frame comes in one batch. */
const batchMs = 16

const allCommands: readonly Command[] = ['interrupt', 'abort', 'discard', 'answer']

interface Source {
  readonly executor: Commandable
  readonly as: WatchedAs
  watch: { readonly run: number; leave(): void } | undefined
}

/** The executors on one side, the browsers on the other, and between them one recorder while it is wanted. */
export class Broadcast {
  readonly #options: InspectorOptions
  readonly #allowed: readonly Command[]
  readonly #sources = new Set<Source>()
  readonly #clients = new Map<WebSocket, InspectorClient>()
  #recorder: Recorder | undefined
  #history: FrameHistory | undefined
  #checks: RecordingChecks | undefined
  #timer: NodeJS.Timeout | undefined

  constructor(options: InspectorOptions) {
    this.#options = options
    const { commands = false } = options
    this.#allowed = commands === true ? allCommands : commands === false ? [] : commands
    if (options.record === 'always') this.#begin()
  }

  get isFull(): boolean {
    return this.#clients.size >= (this.#options.maxClients ?? 20)
  }

  add(shown: Showable, title?: string): () => void {
    return isConversation(shown) ? this.#addConversation(shown, title) : this.#addExecutor(shown, { title })
  }

  /** One attempt at a time: when the next one begins, the one before is over. */
  #addConversation(query: Conversation, title = 'turn'): () => void {
    let turns = 0
    let leave = (): void => undefined
    const show = (executor: Commandable): void => {
      leave()
      leave = this.#addExecutor(executor, { title: `${title} ${++turns}`, around: query.actor })
    }
    const { executor } = query
    if (executor.actor.getSnapshot().context.run.calls.length > 0) show(executor)
    const stop = query.onExecutor(show)
    return () => {
      stop()
      leave()
    }
  }

  #addExecutor(executor: Commandable, as: WatchedAs): () => void {
    const source: Source = { executor, as, watch: this.#recorder?.watch(executor, as) }
    this.#sources.add(source)
    return () => {
      this.#sources.delete(source)
      source.watch?.leave()
    }
  }

  join(stream: Duplex, head: Buffer, maxMessageBytes: number): void {
    if (this.#recorder === undefined) this.#begin()
    const history = this.#history as FrameHistory
    const socket: WebSocket = new WebSocket(stream, head, maxMessageBytes, {
      onMessage: (text) => this.#hear(socket, text),
      onClose: () => this.#leave(socket),
    })
    const client = new InspectorClient(socket, history, this.#options.ackTimeoutMs ?? 30_000)
    this.#clients.set(socket, client)
    const source = this.#options.recording === undefined ? 'live' : 'recording'
    const coverage = this.#options.coverage === undefined ? {} : { hasCoverage: true }
    socket.send(JSON.stringify({ type: 'hello', source, commands: this.#allowed, ...coverage }))
    client.pump()
  }

  close(): void {
    for (const socket of this.#clients.keys()) socket.close(1001)
    this.#end()
  }

  #begin(): void {
    const history = new FrameHistory(() => recorder.picture(), this.#options.maxHistoryBytes)
    const { redact, limits, invariants } = this.#options
    const checks = invariants === undefined ? undefined : new RecordingChecks(invariants)
    const recorder = createRecorder({
      redact,
      limits,
      onFrame: (frame) => {
        history.push(frame)
        checks?.see(frame)
        this.#timer ??= setTimeout(() => this.#flush(), batchMs).unref()
      },
    })
    this.#recorder = recorder
    this.#history = history
    this.#checks = checks
    for (const source of this.#sources) source.watch = recorder.watch(source.executor, source.as)
  }

  #end(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const source of this.#sources) source.watch?.leave()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#recorder = undefined
    this.#history = undefined
    this.#checks = undefined
  }

  #flush(): void {
    // between two batches the charts are at rest
    for (const breach of this.#checks?.newBreaches() ?? []) this.#recorder?.breach(breach.run, breach)
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const client of this.#clients.values()) client.pump()
    this.#history?.trim()
  }

  #leave(socket: WebSocket): void {
    this.#clients.get(socket)?.leave()
    this.#clients.delete(socket)
    if (this.#clients.size === 0 && this.#options.record !== 'always') this.#end()
  }

  #hear(socket: WebSocket, text: string): void {
    const message = readClientMessage(text)
    if (message === undefined) return socket.close(1008)
    if (message.type === 'ack') this.#clients.get(socket)?.acknowledge(message.batch)
    else socket.send(JSON.stringify({ type: 'reply', id: message.id, problem: this.#command(message) ?? null }))
  }

  #command(message: Extract<ClientMessage, { type: 'command' }>): string | undefined {
    if (!this.#allowed.includes(message.command)) return 'The host did not allow this from the browser.'
    const source = [...this.#sources].find(({ watch }) => watch?.run === message.run)
    try {
      return runCommand(source?.executor, message)
    } catch {
      return 'The executor did not take it.'
    }
  }
}
