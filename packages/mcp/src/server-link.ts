import { type AnyTool, type Clock, describeError } from 'signalbox'
import { type ConnectionEvent, type ConnectionLimits, type ConnectionPort, connectionChart } from 'signalbox/machines'
import { createActor } from 'xstate'
import { clearTimer } from './bounded-clock.ts'
import { mcpFailure } from './mcp-failure.ts'
import { type ConnectionActor, type McpConnection, type McpState, stateOf, whenState } from './mcp-state.ts'
import type { Asker, CallServer } from './mcp-tool.ts'
import { oneByOneAfterBreaks } from './one-by-one-after-breaks.ts'
import type { McpServerConfig } from './server-config.ts'
import { isHopeless, openSession, type Session } from './session.ts'
import { ToolList } from './tool-list.ts'
import { WaitingCalls } from './waiting-calls.ts'

export interface LinkHost {
  readonly clock: Clock
  readonly limits: ConnectionLimits
  /** How long a call waits for a missing connection. */
  readonly waitMs: number
  warn(problem: string): void
  onChange(what: 'state' | 'tools' | 'resources'): void
  onStderr(text: string): void
}

const pingMs = 5_000

/** One server: its chart, its session, and its tools. */
export class ServerLink {
  readonly name: string
  readonly key: string
  readonly config: McpServerConfig
  readonly actor: ConnectionActor
  readonly connection: McpConnection
  readonly #host: LinkHost
  readonly #waiting = new WaitingCalls()
  #session: Session | undefined
  #opening: AbortController | undefined
  readonly #list: ToolList
  #isRefreshing = false
  #isStale = false
  readonly #endings = new Set<Promise<unknown>>()

  constructor(name: string, key: string, config: McpServerConfig, host: LinkHost) {
    this.name = name
    this.key = key
    this.config = config
    this.#host = host
    const inTurn = oneByOneAfterBreaks()
    const call: CallServer = (tool, input, by) =>
      inTurn(by.signal, () => this.request('tools/call', { name: tool, arguments: input }, by))
    this.#list = new ToolList(name, key, config, call, host.warn)
    const port: ConnectionPort = { open: () => this.#open(), letGo: () => this.#letGo() }
    this.actor = createActor(connectionChart(), {
      id: `mcp ${name}`,
      clock: host.clock,
      input: { port, limits: { ...host.limits, connectMs: config.connectMs ?? host.limits.connectMs } },
    })
    this.connection = {
      name,
      actor: this.actor,
      waiting: () => this.#waiting.ids(),
      onWaiting: (listener) => this.#waiting.on(listener),
    }
    let last: McpState | undefined
    this.actor.subscribe(() => {
      if (this.state === last) return
      last = this.state
      if (last === 'backingOff' || last === 'failed')
        host.warn(`${last === 'failed' ? 'failed' : 'lost'}: ${this.problem}`)
      host.onChange('state')
    })
  }

  get state(): McpState {
    return stateOf(this.actor)
  }

  get problem(): string | undefined {
    return this.actor.getSnapshot().context.problem
  }

  get session(): Session | undefined {
    return this.state === 'ready' ? this.#session : undefined
  }

  get tools(): AnyTool[] {
    return this.#list.tools
  }

  start(): void {
    this.actor.start()
  }

  /** Resolves when the first attempt has succeeded or failed. */
  async firstAttempt(): Promise<void> {
    await whenState(this.actor, (state) => state !== 'connecting', this.#host.clock)
  }

  /** Closes the connection and everything that belongs to it; resolves when nothing is left. */
  async close(): Promise<void> {
    this.#send({ type: 'connection.close' })
    while (this.#endings.size > 0) await Promise.all(this.#endings)
  }

  /** Reconnects at once, in any state. False if closed. */
  reconnect(): boolean {
    this.#send({ type: 'connection.retry' })
    return this.state !== 'closed'
  }

  /** A usable session; waits for one for a while if it may still connect. */
  async ready({ signal, toolUseID }: Asker): Promise<Session> {
    if (this.session !== undefined) return this.session
    const isOver = (state: McpState): boolean => state === 'ready' || state === 'failed' || state === 'closed'
    const { clock, waitMs } = this.#host
    if (!isOver(this.state))
      await this.#waiting.during(toolUseID, () => whenState(this.actor, isOver, clock, waitMs, signal))
    if (this.session !== undefined) return this.session
    const why = this.problem === undefined ? '' : ` Last problem: ${this.problem}`
    throw mcpFailure(`The server ${this.name} is not connected (${this.state}).${why} The call was not sent.`)
  }

  /** A request that waits for its session, until its signal aborts. */
  async request(method: string, params: object, by: Asker): Promise<Record<string, unknown>> {
    const { signal, progress } = by
    const session = await this.ready(by)
    try {
      progress?.sent()
      const answer = await session.request(method, params, {
        signal,
        ...(progress && { onprogress: progress.onprogress }),
      })
      this.#send({ type: 'connection.proved' })
      return answer
    } catch (error) {
      if (signal.reason === 'timeout') this.#lookAfter(session)
      throw error
    }
  }

  #open(): void {
    const opening = new AbortController()
    this.#opening = opening
    const before = [...this.#endings]
    this.#track(
      Promise.all(before)
        .then(() => this.#connect(opening.signal))
        .then(
          () => this.#tell(opening, { type: 'connection.opened' }),
          (error) =>
            this.#tell(opening, {
              type: 'connection.failed',
              problem: problemOf(error),
              isHopeless: isHopeless(error),
            }),
        ),
    )
  }

  async #connect(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { warn, onChange, onStderr, clock } = this.#host
    const session = await openSession(
      this.config,
      {
        name: this.name,
        now: () => clock.now?.() ?? Date.now(),
        onLost: (problem) => this.#send({ type: 'connection.lost', problem }),
        onToolsChanged: () => void this.#relist(),
        onResourcesChanged: () => onChange('resources'),
        onTrouble: warn,
        onStderr,
      },
      signal,
    )
    try {
      signal.throwIfAborted()
      await this.#readList(session, signal)
      this.#session = session
    } catch (error) {
      await session.close()
      throw error
    }
  }

  async #readList(session: Session, signal: AbortSignal): Promise<void> {
    const ask = (params: object) => session.request('tools/list', params, { signal })
    if (await this.#list.read(session.hasTools ? ask : undefined)) this.#host.onChange('tools')
  }

  #letGo(): void {
    this.#opening?.abort(new Error('given up'))
    const session = this.#session
    this.#session = undefined
    if (session !== undefined) this.#track(session.close())
  }

  #track(ending: Promise<unknown>): void {
    const quiet = ending.catch(() => undefined).finally(() => this.#endings.delete(quiet))
    this.#endings.add(quiet)
  }

  /** Events of an abandoned attempt are ignored. */
  #tell(opening: AbortController, event: ConnectionEvent): void {
    if (this.#opening === opening && !opening.signal.aborted) this.#send(event)
  }

  #send(event: ConnectionEvent): void {
    if (this.actor.getSnapshot().status === 'active') this.actor.send(event)
  }

  /** One list request at a time: changes in the meantime trigger one more. */
  async #relist(): Promise<void> {
    this.#isStale = true
    if (this.#isRefreshing) return
    this.#isRefreshing = true
    while (this.#isStale && this.session !== undefined) {
      this.#isStale = false
      try {
        await this.#readList(this.session, AbortSignal.timeout(this.#host.limits.connectMs))
      } catch (error) {
        this.#host.warn(`the list of tools could not be refreshed: ${problemOf(error)}`)
      }
    }
    this.#isRefreshing = false
  }

  /** After a call timed out, a server that does not answer a ping is restarted. */
  #lookAfter(session: Session): void {
    if (!session.hasPing) return
    const controller = new AbortController()
    const timer = this.#host.clock.setTimeout(() => controller.abort('timeout'), pingMs)
    session
      .request('ping', {}, { signal: controller.signal })
      .catch(() => {
        if (controller.signal.aborted && this.#session === session) {
          this.#send({
            type: 'connection.lost',
            problem: `the server did not answer a ping within ${pingMs} ms`,
          })
        }
      })
      .finally(() => clearTimer(this.#host.clock, timer))
  }
}

const problemOf = (error: unknown): string =>
  error instanceof Error && error.message !== ''
    ? error.message.slice(0, 2_000)
    : describeError(error, 'The connection')
