import { openSession } from 'signalbox/durable'
import { describe, expect, it } from 'vitest'
import { createSession, type Session, type SessionOptions } from '../../../src/index.ts'
import { checkTranscript } from '../../../src/transcripts/index.ts'
import { failingJournals } from '../../support/failing-journals.ts'
import { heldModel } from '../../support/held-model.ts'
import { type HeldTool, heldTool } from '../../support/held-tool.ts'
import { flush } from '../../support/turn.ts'

interface Stage {
  readonly session: Session
  readonly held: ReturnType<typeof heldModel>
  readonly work: HeldTool
  readonly breakDown: () => void
}

interface Exit {
  readonly options?: Partial<SessionOptions>
  /** From a reply with a finished call, a running call and a text, to the end of the run. */
  readonly leave: (stage: Stage) => void
  /** Only a session with a log can end like this. */
  readonly isDurable?: boolean
}

const endWith = ({ held, work }: Stage): void => {
  held.end('tool_use')
  work.run('b').finish()
}

const stopHook = async () => ({ continue: false, stopReason: 'enough' })

const exits: { readonly [reason: string]: Exit } = {
  max_turns: { options: { maxTurns: 1 }, leave: endWith },
  limit: { options: { limits: { turns: 1 } }, leave: endWith },
  hook_stopped: {
    options: { context: { hooks: { PostToolUse: [{ hooks: [stopHook] }] } } as never },
    leave: endWith,
  },
  aborted_streaming: { leave: ({ session }) => session.abort('stop') },
  aborted_tools: {
    leave: ({ session, held }) => {
      held.end('tool_use')
      setImmediate(() => session.abort('stop'))
    },
  },
  model_error: {
    leave: ({ held, work }) => {
      held.fail(Object.assign(new Error('bad request'), { status: 400 }))
      work.run('b').finish()
    },
  },
  suspended: { leave: ({ session }) => void session.suspend(), isDurable: true },
  journal_error: {
    leave: (stage) => {
      stage.breakDown()
      endWith(stage)
    },
    isDurable: true,
  },
}

const rounds = async (): Promise<void> => {
  for (let round = 0; round < 10; round++) await flush()
}

describe('S1 the transcript after an exit', () => {
  it.each(
    Object.entries(exits).flatMap(([reason, exit]) =>
      [false, true].filter((isLogged) => isLogged || !exit.isDurable).map((isLogged) => ({ reason, exit, isLogged })),
    ),
  )('S1 is valid after $reason (with a log: $isLogged)', async ({ reason, exit, isLogged }) => {
    const held = heldModel()
    const work = heldTool('Work', { safe: true, obedient: true })
    const { journals, breakDown } = failingJournals()
    const options: SessionOptions = {
      tools: [work.tool],
      model: held.model,
      canUseTool: () => ({ behavior: 'allow' }),
      ...exit.options,
    }
    const session = isLogged ? await openSession({ ...options, id: 's', journals }) : createSession(options)
    session.send('go')
    await rounds()
    held.start()
    held.call('a', 'Work')
    await rounds()
    work.run('a').finish()
    held.call('b', 'Work')
    held.text('and')
    await rounds()
    expect(work.started).toEqual(['a', 'b'])
    exit.leave({ session, held, work, breakDown })
    await session.whenIdle()
    expect(session.result?.reason).toBe(reason)
    expect(checkTranscript(session.transcript)).toEqual({ ok: true })
    await session.close()
  })
})
