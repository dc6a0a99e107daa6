import type { AnyActorRef } from 'xstate'
import { createRecorder, type Frame } from '../inspect/index.ts'
import type { HeldWorld } from './held-world.ts'
import type { Breach } from './invariant.ts'
import { playTurn } from './play-turn.ts'
import type { TurnSetup } from './turn-setup.ts'

/** The story told once more, as frames for the inspector: the same for the same story. */
export async function recordStory(setup: TurnSetup, story: readonly string[]): Promise<Frame[]> {
  let recording: WorldRecording | undefined
  const onBegin = (world: HeldWorld): void => {
    recording = recordWorld(world)
  }
  const { breaches } = await playTurn(setup, story, { onBegin })
  return recording?.end(breaches) ?? []
}

export interface WorldRecording {
  /** Leaves, and gives all that was seen, with what did not hold in the end. */
  end(breaches?: readonly Breach[]): Frame[]
}

/** Neither when it was told nor how many actors there were before is part of a story. */
export function recordWorld({ executor, clock }: Pick<HeldWorld, 'executor' | 'clock'>): WorldRecording {
  const frames: Frame[] = []
  const recorder = createRecorder({
    onFrame: (frame) => frames.push(frame),
    now: () => clock.now(),
    epoch: 0,
    actorId: countedActors(),
  })
  const { leave, run } = recorder.watch(executor, { title: 'story' })
  return {
    end(breaches = []) {
      for (const breach of breaches) recorder.breach(run, breach)
      leave()
      return frames
    },
  }
}

export function countedActors(): (actor: AnyActorRef) => string {
  const names = new Map<AnyActorRef, string>()
  return (actor) => {
    const name = names.get(actor) ?? `x:${names.size}`
    names.set(actor, name)
    return name
  }
}
