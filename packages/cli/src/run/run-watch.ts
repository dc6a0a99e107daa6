import type { McpConnection } from '@signalbox/mcp'
import type { ModelReplyMessage, Query } from 'signalbox'
import { createRecorder, type Frame, type Recorder, ShownRuns } from 'signalbox/inspect'
import type { InspectorServer } from 'signalbox/inspect/server'
import type { SubAgentOptions } from 'signalbox/sub-agent'

/** Frames are lines of a file with a maximum length: more text per value means fewer values. */
const limits = { text: 10_000, nodes: 130 }

interface WatchOptions {
  readonly onFrame: (frame: Frame) => void
  readonly inspector?: InspectorServer | undefined
  /** Agents are watched for a recording only: the terminal shows them as one line. */
  readonly isRecorded: boolean
}

/** Watches a conversation with its turns, agents and servers: for the terminal, a recording, and the inspector. */
export class RunWatch {
  readonly #recorder: Recorder
  readonly #inspector: InspectorServer | undefined
  readonly #agents = new ShownRuns()
  #turns = 0
  /** The number of the turn in the recording, where agents and servers have numbers too. */
  #turn = 0
  #leaveTurn = (): void => undefined

  constructor({ onFrame, inspector, isRecorded }: WatchOptions) {
    this.#recorder = createRecorder({ onFrame, limits, progressGapMs: 0 })
    this.#inspector = inspector
    if (isRecorded) this.#agents.begin(this.#recorder)
  }

  server(connection: McpConnection): void {
    this.#recorder.watch(connection)
    this.#inspector?.add(connection)
  }

  /** `onExecutor`: called before the executor of an attempt is watched. */
  query(query: Query, onExecutor: () => void): void {
    this.#inspector?.add(query)
    query.onExecutor((executor) => {
      onExecutor()
      this.leave()
      const watched = this.#recorder.watch(executor, { title: `turn ${++this.#turns}`, queryActor: query.actor })
      this.#turn = watched.run
      this.#leaveTurn = watched.leave
    })
  }

  agent: NonNullable<SubAgentOptions['onQuery']> = (inner, { toolUseID, description }) => {
    const as = { title: `Agent: ${firstLine(description)}, turn`, parentToolUseID: toolUseID }
    const [leavePage, leaveRecording] = [this.#inspector?.add(inner, as), this.#agents.add(inner, as)]
    return () => {
      leavePage?.()
      leaveRecording()
    }
  }

  say: (by: Parameters<Recorder['say']>[1], text: string) => void = (by, text) =>
    this.#recorder.say(this.#turn, by, text)

  reply(message: ModelReplyMessage): void {
    this.#recorder.reply(this.#turn, message)
  }

  /** The turn is over. */
  leave(): void {
    this.#leaveTurn()
  }
}

const firstLine = (text: string): string => text.trim().split('\n', 1)[0]?.slice(0, 60) ?? ''
