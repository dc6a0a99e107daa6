import type { AnyTool } from '../tool/tool.ts'
import type { HeldBody } from './held-bodies.ts'
import type { Invariant } from './invariant.ts'
import type { CallEvidence, TurnEvidence } from './turn-evidence.ts'

/** Facts that only a world with held bodies knows. */
export interface WorldView {
  readonly bodies: ReadonlyMap<string, HeldBody>
  readonly toolOf: (call: CallEvidence) => AnyTool | undefined
  readonly graceMs: number
  readonly now: () => number
  readonly areBodiesHeld: boolean
  readonly inProgress: () => ReadonlySet<string>
  readonly isInterruptible: () => boolean
  readonly hostReason: () => unknown
  readonly unreadOf: (id: string) => number
  readonly wasStoppedByHost: () => boolean
}

const isOverIn = ({ phase }: CallEvidence): boolean => phase === 'completed' || phase === 'yielded'

/** Compares the executor's statements with what the bodies and the host saw. */
export function worldInvariants(world: WorldView): Invariant[] {
  const firstOf = (
    { calls }: TurnEvidence,
    problemOf: (call: CallEvidence) => string | undefined,
  ): string | undefined => {
    for (const call of calls) {
      const problem = problemOf(call)
      if (problem !== undefined) return problem
    }
    return undefined
  }
  return [
    {
      // W8, A7
      name: 'results are true',
      check: (turn) =>
        firstOf(turn, (call) => {
          const { id, results, body, ending } = call
          const [result] = results
          if (result === undefined || !world.areBodiesHeld) return undefined
          const { outcome } = body ?? {}
          if (outcome === undefined || outcome.wasTold) {
            return result.isError ? undefined : `${id} did not finish, but its result says: ${result.text}`
          }
          if (ending?.by !== 'result' || world.toolOf(call)?.retry !== undefined) {
            return outcome.ok === result.isError && outcome.ok
              ? `${id} finished, but its result is an error`
              : undefined
          }
          const isTrue = result.isError !== outcome.ok && result.text.includes(outcome.says ?? '')
          return isTrue ? undefined : `${id} ${outcome.ok ? 'finished' : 'failed'}, but its result says: ${result.text}`
        }),
    },
    {
      // A7
      name: 'the grace is kept',
      check: (turn) =>
        firstOf(turn, (call) => {
          const body = world.bodies.get(call.id)
          if (body?.isRunning !== true) return undefined
          const isDue = body.toldAtMs !== undefined && world.now() - body.toldAtMs >= world.graceMs
          if (isOverIn(call) && !isDue) return `${call.id} was abandoned before its grace was over`
          return !isOverIn(call) && call.phase === 'executing.stopping' && isDue
            ? `the grace of ${call.id} is over, but the turn still waits for it`
            : undefined
        }),
    },
    {
      // A2
      name: 'a failing shell stops its siblings',
      check(turn) {
        const failed = turn.calls.filter((call) => {
          const { outcome } = call.body ?? {}
          return (
            world.toolOf(call)?.cancelsSiblingsOnError === true &&
            outcome?.ok === false &&
            !outcome.wasTold &&
            isOverIn(call)
          )
        })
        const isStopped = turn.run === 'siblingErrored' || turn.run === 'discarded'
        return failed[0] !== undefined && !isStopped ? `${failed[0].id} failed, but the turn is ${turn.run}` : undefined
      },
    },
    {
      // A6
      name: 'a permission stop aborts the host controller',
      check: ({ run }) =>
        world.wasStoppedByHost() &&
        run !== 'discarded' &&
        (run === 'clear' || run === 'interrupted' || world.hostReason() === undefined)
          ? `the host answered "stop", but the turn is ${run} and the reason of its controller is ${String(world.hostReason())}`
          : undefined,
    },
    {
      // A4
      name: 'a host abort stops the turn',
      check: ({ calls, run }) =>
        world.hostReason() !== undefined && run === 'clear' && calls.some((call) => !isOverIn(call))
          ? 'the host aborted, but the turn goes on'
          : undefined,
    },
    {
      // Y5
      name: 'every message is handed over',
      check: (turn) =>
        firstOf(turn, ({ id, phase }) =>
          phase === 'yielded' && turn.run !== 'discarded' && world.unreadOf(id) !== 0
            ? `${id} is yielded, but ${world.unreadOf(id)} of its messages are not handed over`
            : undefined,
        ),
    },
    {
      // Y8
      name: 'the indicators are right',
      check(turn) {
        const executing = turn.calls.filter(({ phase }) => phase.startsWith('executing'))
        const isInterruptible =
          turn.run !== 'discarded' &&
          executing.length > 0 &&
          executing.every(({ stopsAtInterrupt }) => stopsAtInterrupt)
        if (isInterruptible !== world.isInterruptible()) return `interruptible is ${!isInterruptible}`
        const wanted =
          turn.run === 'discarded'
            ? []
            : turn.calls
                .filter(
                  ({ phase, hasExecuted }) => phase.startsWith('executing') || (phase === 'completed' && hasExecuted),
                )
                .map(({ id }) => id)
        const told = [...world.inProgress()].sort().join()
        return told === wanted.sort().join()
          ? undefined
          : `expected in progress: ${wanted.join()}; the host was told: ${told}`
      },
    },
  ]
}
