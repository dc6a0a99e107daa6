import { createRecorder, type Frame } from '../../../src/inspect/index.ts'
import { type HeldTool, heldTool } from '../../../test/support/held-tool.ts'
import { flush, takeAll, testTurn } from '../../../test/support/turn.ts'
import { SessionView } from '../src/view/session-view.ts'

/** A turn with held tools, and its view. `at` is the time of the frames. */
export function seenTurn(options: Parameters<typeof testTurn>[1] = {}) {
  const tools = {
    Read: heldTool('Read', { safe: true, obedient: true }),
    Grep: heldTool('Grep', { safe: true, obedient: true }),
    Edit: heldTool('Edit', { obedient: true }),
    Bash: heldTool('Bash', { obedient: true, cancelsSiblingsOnError: true }),
  } satisfies Record<string, HeldTool>
  const turn = testTurn(
    Object.values(tools).map(({ tool }) => tool),
    options,
  )
  const session = new SessionView()
  const frames: Frame[] = []
  let at = 0
  const recorder = createRecorder({
    onFrame: (frame) => {
      frames.push(frame)
      session.take(frame)
    },
    now: () => at,
    progressGapMs: 0,
  })
  const { run, leave } = recorder.watch(turn.executor)
  return {
    ...turn,
    ...tools,
    session,
    frames,
    leave,
    say: (text: string) => recorder.say(run, 'model', text),
    pass: (ms: number) => {
      at += ms
    },
    now: () => at,
    /** Lets everything settle, and takes what is ready. */
    async settle() {
      await flush()
      takeAll(turn.executor)
      await flush()
    },
  }
}
