import { randomUUID } from 'node:crypto'
import type { Duplex } from 'node:stream'
import { RecordingChecks } from '../../testing/recording-checks.ts'
import { type ShownAs, ShownRuns } from '../bridge/shown-runs.ts'
import { createRecorder, type Recorder, type Showable } from '../index.ts'
import { readClientMessage } from './client-message.ts'
import { FrameHistory } from './frame-history.ts'
import { InspectorClient } from './inspector-client.ts'
import type { InspectorOptions } from './inspector-options.ts'
import { WebSocket } from './web-socket.ts'

/** One batch per animation frame. */
const batchMs = 16

/** How long recording continues after the last browser lost its connection, so that it can resume. */
const lingerMs = 60_000

/** The position from which a browser resumes after it lost its connection. */
export interface Resume {
  readonly stream: string
  /** The last frame it received. */
  readonly after: number
}

/** Connects executors to browsers through one recorder, which exists while it is needed. */
export class Broadcast {
  readonly #options: InspectorOptions
  readonly #runs: ShownRuns
  readonly #clients = new Map<WebSocket, InspectorClient>()
  #recorder: Recorder | undefined
  #history: FrameHistory | undefined
  #checks: RecordingChecks | undefined
  #timer: NodeJS.Timeout | undefined
  #lingering: NodeJS.Timeout | undefined
  /** Names the recording: frame numbers count only in it. */
  #stream = ''

  constructor(options: InspectorOptions) {
    this.#options = options
    this.#runs = new ShownRuns(options.commands)
    if (options.record === 'always') this.#begin()
  }

  get isFull(): boolean {
    return this.#clients.size >= (this.#options.maxClients ?? 20)
  }

  add(shown: Showable, as?: ShownAs): () => void {
    return this.#runs.add(shown, as)
  }

  join(stream: Duplex, head: Buffer, maxMessageBytes: number, resume?: Resume): void {
    clearTimeout(this.#lingering)
    if (this.#recorder === undefined) this.#begin()
    const history = this.#history as FrameHistory
    const socket: WebSocket = new WebSocket(stream, head, maxMessageBytes, {
      onMessage: (text) => this.#hear(socket, text),
      onClose: (isClean) => this.#leave(socket, isClean),
    })
    // the recorder numbers its frames from 0, and the history has each of them
    const isResumed = resume?.stream === this.#stream && resume.after >= 0 && resume.after < history.end
    const position = isResumed ? resume.after + 1 : 0
    const client = new InspectorClient(socket, history, this.#options.ackTimeoutMs ?? 30_000, position)
    this.#clients.set(socket, client)
    const { recording, viewerOnly } = this.#options
    const source = recording !== undefined ? 'recording' : viewerOnly === true ? 'none' : 'live'
    const coverage = this.#options.coverage === undefined ? {} : { hasCoverage: true }
    const journals = this.#options.journals === undefined ? {} : { hasSessions: true }
    const about = { source, commands: this.#runs.allowed, stream: this.#stream, isResumed }
    const said = { type: 'hello', ...about, ...coverage, ...journals }
    socket.send(JSON.stringify(said))
    client.pump()
  }

  close(): void {
    for (const socket of this.#clients.keys()) socket.close(1001)
    this.#end()
  }

  #begin(): void {
    const history = new FrameHistory(() => recorder.picture(), this.#options.maxHistoryBytes)
    const { redact, limits, invariants, prices } = this.#options
    const checks = invariants === undefined ? undefined : new RecordingChecks(invariants, true)
    let isTrimming = false
    // between two steps, and even if a run that never waits for I/O lets no timer fire
    const trimSoon = (): void => {
      if (isTrimming) return
      isTrimming = true
      queueMicrotask(() => {
        isTrimming = false
        history.trim()
      })
    }
    const recorder = createRecorder({
      redact,
      limits,
      prices,
      onFrame: (frame) => {
        history.push(frame)
        if (history.isFull) trimSoon()
        checks?.see(frame)
        this.#timer ??= setTimeout(() => this.#flush(), batchMs).unref()
      },
    })
    this.#recorder = recorder
    this.#stream = randomUUID()
    this.#history = history
    this.#checks = checks
    this.#runs.begin(recorder)
  }

  #end(): void {
    clearTimeout(this.#lingering)
    // its last frames set the timer again
    this.#runs.end()
    clearTimeout(this.#timer)
    this.#timer = undefined
    this.#recorder = undefined
    this.#history = undefined
    this.#checks = undefined
  }

  #flush(): void {
    // no step is in progress between two batches
    for (const breach of this.#checks?.newBreaches() ?? []) this.#recorder?.breach(breach.run, breach)
    clearTimeout(this.#timer)
    this.#timer = undefined
    for (const client of this.#clients.values()) client.pump()
    this.#history?.trim()
  }

  #leave(socket: WebSocket, isClean: boolean): void {
    this.#clients.get(socket)?.leave()
    this.#clients.delete(socket)
    if (this.#clients.size > 0 || this.#options.record === 'always') return
    if (isClean) return this.#end()
    clearTimeout(this.#lingering)
    this.#lingering = setTimeout(() => this.#clients.size === 0 && this.#end(), lingerMs).unref()
  }

  #hear(socket: WebSocket, text: string): void {
    const message = readClientMessage(text)
    if (message === undefined) return socket.close(1008)
    if (message.type === 'ack') this.#clients.get(socket)?.acknowledge(message.batch)
    else socket.send(JSON.stringify({ type: 'reply', id: message.id, problem: this.#runs.command(message) ?? null }))
  }
}
