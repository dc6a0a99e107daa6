import { aFlag, anArray, checkOption, or } from '../../base/option-rules.ts'
import { eventCommand } from '../frames/commands.ts'
import type { EncodeLimits } from '../frames/encode-value.ts'
import type { Command } from '../frames/frame.ts'
import type { Redact } from '../frames/redact.ts'
import { createRecorder } from '../recorder/recorder.ts'
import { assertShowable, type Showable } from '../recorder/showable.ts'
import { type ActorListener, FollowedActors, type SeenActor } from './follow-actors.ts'
import { ShownRuns } from './shown-runs.ts'

export interface ActorFeedOptions {
  /** Replaces values before they are shown: inputs, results and all other data that is not part of the charts. */
  redact?: Redact | undefined
  /** How much of a value is shown. */
  limits?: EncodeLimits | undefined
  /**
   * The commands that may be sent to the executors.
   * @default nothing
   */
  allowCommands?: boolean | readonly Command[] | undefined
}

/** For third-party inspectors: executors and queries as actors with states. Costs nothing while nobody watches. */
export interface ActorFeed {
  /** Shows one more executor, a query with all its executors, or a connection. Returns a function that removes it. */
  add(shown: Showable, options?: { title?: string | undefined }): () => void
  /** Reports every current actor, then everything that happens. */
  begin(): void
  /** Reports every actor as stopped, detaches and keeps nothing. */
  end(): void
  /** The actors that are not done. */
  actors(): Iterable<SeenActor>
  /** Maps an event that a person sent to an actor to its command and runs it. Returns undefined, or why it was refused. */
  ask(actor: string, event: unknown): string | undefined
}

export function createActorFeed(
  listener: ActorListener,
  { redact, limits, allowCommands }: ActorFeedOptions = {},
): ActorFeed {
  // on creation, where the host sees it; the first watcher may come much later
  checkOption('allowCommands', allowCommands, or(aFlag, anArray))
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
      if (asked === undefined) return 'Unknown command. Send an abort, a discard or an answer.'
      if (standing === undefined) return 'This actor no longer exists.'
      const { actor, can, call } = standing
      if (!runs.allowed.includes(asked.command)) return 'The host does not allow this command.'
      if (!can.includes(asked.command)) return 'The chart does not accept this command now.'
      return runs.command({ run: actor.run, call, ...asked })
    },
  }
}
