import type { AnyActorRef } from 'xstate'
import { createRecorder, type Frame, type Recorder } from '../inspect/index.ts'
import type { HeldConversation } from './held-conversation.ts'
import type { HeldWorld } from './held-world.ts'
import type { Breach } from './invariant.ts'
import { playTurn } from './play-turn.ts'
import type { SimulatedClock } from './simulated-clock.ts'
import type { TurnSetup } from './turn-setup.ts'

/** Replays the story and returns its frames for the inspector. Deterministic. */
export async function recordStory(setup: TurnSetup, story: readonly string[]): Promise<Frame[]> {
  let recording: WorldRecording | undefined
  const onBegin = (world: HeldWorld): void => {
    recording = recordWorld(world)
  }
  const { breaches } = await playTurn(setup, story, { onBegin })
  return recording?.end(breaches) ?? []
}

export interface WorldRecording {
  /** Detaches and returns all frames, with the breaches at the end. */
  end(breaches?: readonly Breach[]): Frame[]
}

/** Frames must not depend on the wall clock or on actors created earlier. */
function storyRecorder(clock: SimulatedClock): { recorder: Recorder; frames: Frame[] } {
  const frames: Frame[] = []
  const onFrame = (frame: Frame): void => void frames.push(frame)
  return { frames, recorder: createRecorder({ onFrame, now: () => clock.now(), epoch: 0, actorId: countedActors() }) }
}

export function recordWorld({ executor, clock }: Pick<HeldWorld, 'executor' | 'clock'>): WorldRecording {
  const { recorder, frames } = storyRecorder(clock)
  const { leave, run } = recorder.watch(executor, { title: 'story' })
  return {
    end(breaches = []) {
      for (const breach of breaches) recorder.breach(run, breach)
      leave()
      return frames
    },
  }
}

/** Each attempt of a query is a separate run, with the query's actor. */
export function recordQuery({ run: query, clock }: Pick<HeldConversation, 'run' | 'clock'>): WorldRecording {
  const { recorder, frames } = storyRecorder(clock)
  let watched: ReturnType<Recorder['watch']> | undefined
  const stop = query.onExecutor((executor) => {
    watched?.leave()
    watched = recorder.watch(executor, { title: 'attempt', queryActor: query.actor as AnyActorRef })
  })
  return {
    end(breaches = []) {
      for (const breach of breaches) recorder.breach(watched?.run ?? 0, breach)
      watched?.leave()
      stop()
      return frames
    },
  }
}

function countedActors(): (actor: AnyActorRef) => string {
  const names = new Map<AnyActorRef, string>()
  return (actor) => {
    const name = names.get(actor) ?? `x:${names.size}`
    names.set(actor, name)
    return name
  }
}
