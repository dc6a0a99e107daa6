import { afterEach, describe, expect, it, vi } from 'vitest'
import type { AnyMachineSnapshot, InspectionEvent } from 'xstate'
import type { Frame } from '../../src/inspect/index.ts'

/** An XState whose inspection events lack a field, as in a possible new version. */
async function recordedWithout(field: '_nodes' | '_transitions') {
  vi.resetModules()
  vi.doMock('xstate', async (original) => {
    const xstate = await original<typeof import('xstate')>()
    const createActor = (...args: Parameters<typeof xstate.createActor>) => {
      const actor = xstate.createActor(...args)
      const { inspect } = actor.system
      const without = (event: InspectionEvent) => {
        if (field === '_transitions' && '_transitions' in event) return { ...event, _transitions: undefined }
        return event
      }
      actor.system.inspect = ((observer: (event: unknown) => void) =>
        inspect((event) => observer(without(event as InspectionEvent)))) as never
      const options = args[1] as { inspect?: (event: unknown) => void } | undefined
      if (options?.inspect !== undefined && field === '_transitions') {
        const told = options.inspect
        return xstate.createActor(args[0], {
          ...(options as object),
          inspect: (event: InspectionEvent) => told(without(event)),
        } as never)
      }
      if (field === '_nodes') {
        const { getSnapshot } = actor
        actor.getSnapshot = () => ({ ...(getSnapshot.call(actor) as AnyMachineSnapshot), _nodes: [] }) as never
      }
      return actor
    }
    return { ...xstate, createActor }
  })
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => undefined)
  const { createRecorder } = await import('../../src/inspect/index.ts')
  const { StreamingToolExecutor } = await import('../../src/index.ts')
  const frames: Frame[] = []
  const executor = new StreamingToolExecutor([], undefined, {}, { engine: 'xstate' })
  createRecorder({ onFrame: (frame) => frames.push(frame) }).watch(executor)
  executor.addTool({ type: 'tool_use', id: 'a', name: 'Nobody', input: {} }, undefined as never)
  executor.discard()
  return { steps: frames.filter((frame) => frame.type === 'step'), warnings: warn.mock.calls.flat().map(String) }
}

describe('a recorder beside another XState', () => {
  afterEach(() => {
    vi.doUnmock('xstate')
    vi.restoreAllMocks()
  })

  it('reads active states from the state value if the nodes of a snapshot have changed', async () => {
    const { steps, warnings } = await recordedWithout('_nodes')
    expect(steps.filter(({ active }) => active !== undefined && active.length > 2).length).toBeGreaterThan(0)
    expect(warnings.filter((text) => text.includes('recorder'))).toEqual([
      expect.stringContaining('reads active states from the state value'),
    ])
  })

  it('records without transitions if XState does not report them, with one warning', async () => {
    const { steps, warnings } = await recordedWithout('_transitions')
    expect(steps.length).toBeGreaterThan(0)
    expect(steps.every(({ transitions }) => transitions.length === 0)).toBe(true)
    expect(warnings.filter((text) => text.includes('recorder'))).toEqual([
      expect.stringContaining('cannot show which transitions were taken'),
    ])
  })
})
