import { createRecorder, type Frame } from '../inspect/index.ts'
import { playTurn } from './play-turn.ts'
import type { TurnSetup } from './turn-setup.ts'

/** The story told once more, as frames for the inspector: the same for the same story. */
export async function recordStory(setup: TurnSetup, story: readonly string[]): Promise<Frame[]> {
  const frames: Frame[] = []
  const rename = renamed()
  let leave: () => void = () => undefined
  await playTurn(setup, story, ({ executor, clock }) => {
    const onFrame = (frame: Frame) => void frames.push(rename(frame))
    leave = createRecorder({ onFrame, now: () => clock.now() }).watch(executor, { title: 'story' }).leave
  })
  leave()
  return frames
}

/** Neither when it was told nor how many actors there were before is part of a story. */
function renamed(): (frame: Frame) => Frame {
  const names = new Map<string, string>()
  const nameOf = (actor: string): string => {
    const name = names.get(actor) ?? `x:${names.size}`
    names.set(actor, name)
    return name
  }
  const renameIn = (value: unknown, isActor: boolean): unknown => {
    if (typeof value === 'string') return isActor && isSessionId(value) ? nameOf(value) : value
    if (Array.isArray(value)) return value.map((each) => renameIn(each, false))
    if (typeof value !== 'object' || value === null) return value
    const isReference = (value as { $?: unknown }).$ === 'actor'
    return Object.fromEntries(
      Object.entries(value).map(([key, each]) => [key, renameIn(each, isReference && key === 'id')]),
    )
  }
  return (frame) => {
    const fields = Object.entries(frame.type === 'head' ? { ...frame, epoch: 0 } : frame)
    return Object.fromEntries(
      fields.map(([key, value]) => [key, renameIn(value, actorFields.has(key))]),
    ) as unknown as Frame
  }
}

const actorFields = new Set(['actor', 'parent', 'root', 'to', 'from'])
const isSessionId = (value: string): boolean => /^x:\d+$/.test(value)
