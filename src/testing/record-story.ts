import type { StreamingToolExecutor } from '../executor/streaming-tool-executor.ts'
import { playTurn } from './play-turn.ts'
import type { TurnSetup } from './turn-setup.ts'

/** Writes down what an executor does, as lines for the inspector. The inspector's recorder fits, with three lines. */
export type StoryRecorder = (
  executor: StreamingToolExecutor,
  onLine: (line: string) => void,
  clock: { now(): number },
) => () => void

let recorder: StoryRecorder | undefined

/** From now on stories can be recorded. */
export function recordStoriesWith(given: StoryRecorder | undefined): void {
  recorder = given
}

/** The story told once more, as a recording. */
export async function recordStory(setup: TurnSetup, story: readonly string[]): Promise<string | undefined> {
  if (recorder === undefined) return undefined
  const record = recorder
  const lines: string[] = []
  let stop: () => void = () => undefined
  await playTurn(setup, story, (world) => {
    stop = record(world.executor, (line) => lines.push(line), world.clock)
  })
  stop()
  return lines.map((line) => `${line}\n`).join('')
}
