import { SignalboxError } from '../errors/signalbox-error.ts'
import { describeValue } from '../text/describe-value.ts'
import type { EncodeLimits } from './encode-value.ts'
import { eventCommand } from './event-command.ts'
import { type ActorListener, FollowedActors, type SeenActor } from './follow-actors.ts'
import type { Command } from './frame.ts'
import { createRecorder } from './recorder.ts'
import type { Redact } from './redact.ts'
import { assertShowable, type Showable } from './showable.ts'
import { ShownRuns } from './shown-runs.ts'

export interface ActorFeedOptions {
  /** Decides what may be shown of inputs, results and everything else that is not the charts' own. */
  redact?: Redact | undefined
  /** How much of a value is shown. */
  limits?: EncodeLimits | undefined
  /**
   * What may be asked of the executors.
   * @default nothing
   */
  allowCommands?: boolean | readonly Command[] | undefined
}

/** For an inspector that is not ours: executors and queries as actors with states, and nothing paid while nobody looks. */
export interface ActorFeed {
  /** Shows one more executor, a query with each executor it will have, or a connection. Returns how to leave it. */
  add(shown: Showable, options?: { title?: string | undefined }): () => void
  /** Tells of every actor that there is, and of all that happens from now on. */
  begin(): void
  /** Leaves without a trace: every actor is told of as stopped, and nothing is kept. */
  end(): void
  /** The actors that are not over. */
  actors(): Iterable<SeenActor>
  /** Takes an event that a person sent to an actor for the command it stands for. Undefined where it was done, else why not. */
  ask(actor: string, event: unknown): string | undefined
}

export function createActorFeed(
  listener: ActorListener,
  { redact, limits, allowCommands }: ActorFeedOptions = {},
): ActorFeed {
  if (allowCommands !== undefined && typeof allowCommands !== 'boolean' && !Array.isArray(allowCommands)) {
    misused('allowCommands must be a boolean or a list', allowCommands)
  }
  const runs = new ShownRuns(allowCommands)
  let followed: FollowedActors | undefined
  const end = (): void => {
    runs.end()
    followed = undefined
  }
  return {
    add(shown, { title } = {}) {
      assertShowable(shown)
      return runs.add(shown, { title })
    },
    begin() {
      if (followed !== undefined) return
      const actors = new FollowedActors(listener)
      followed = actors
      runs.begin(createRecorder({ redact, limits, onFrame: (frame) => actors.take(frame) }))
    },
    end,
    actors: () => followed ?? [],
    ask(id, event) {
      const standing = followed?.standing(id)
      const asked = eventCommand(event)
      if (asked === undefined) return 'Only commands may be sent: an abort, a discard, or an answer.'
      if (standing === undefined) return 'There is no such actor any more.'
      const { actor, can, call } = standing
      if (!runs.allowed.includes(asked.command)) return 'The host did not allow this.'
      if (!can.includes(asked.command)) return 'It would not be taken now.'
      return runs.command({ run: actor.run, call, ...asked })
    },
  }
}

/** At once, where the host sees it: the first look may be long after. */
function misused(expected: string, came: unknown): never {
  throw new SignalboxError('invalid_option', `${expected}, but got ${describeValue(came, 80)}.`)
}
