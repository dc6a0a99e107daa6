import {
  type ActorState,
  activeStates,
  applyPatch,
  type CastListener,
  type Encoded,
  type Frame,
  type FrameOf,
  foldServer,
  newServerState,
  type ServerState,
  whyWaitingForServer,
} from 'signalbox/inspect'
import { cleanLine } from './clean-text.ts'

interface ActorView extends ActorState {
  context: Encoded
}

const listener: CastListener<ServerState<ActorView>> = {
  newActor: (state, { context }) => ({ ...state, context }),
  onStep(actor, { context }) {
    if (context !== undefined) actor.context = applyPatch(actor.context, context)
  },
}

/** A connection to a server: its status, and the calls that wait for it. */
export class ServerView {
  readonly #server: ServerState<ActorView>

  constructor(frame: FrameOf<'server'>) {
    this.#server = newServerState(frame)
  }

  take(frame: Frame): void {
    foldServer(this.#server, frame, listener)
  }

  isAwaitedBy(call: string): boolean {
    return this.#server.waiting.has(call)
  }

  /** Why a call waits for it, in words. */
  get words(): string {
    const { actors, charts, root, name } = this.#server
    const actor = actors.get(root)
    const state = activeStates(charts.get(actor?.chart ?? ''), actor?.active ?? []).innermost || 'unknown'
    return whyWaitingForServer(cleanLine(name), cleanLine(state), problemIn(actor?.context))
  }
}

function problemIn(context: Encoded | undefined): string {
  const { problem } = (typeof context === 'object' && context !== null ? context : {}) as { problem?: unknown }
  return typeof problem === 'string' ? cleanLine(problem) : ''
}
