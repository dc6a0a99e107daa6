import type { WaitGroup } from '../frames/frame.ts'
import type { CallIn } from './run-listener.ts'
import type { RunState } from './run-state.ts'

/** Why the call at this index waits; undefined if it does not. */
export const waitOf = ({ waits }: Pick<RunState, 'waits'>, index: number): WaitGroup | undefined =>
  waits.find(({ calls }) => calls.some(([from, to]) => from <= index && index <= to))

/** Visits the waiting calls, group by group. */
export function eachWaiting<Run extends Pick<RunState, 'waits' | 'calls'>>(
  { waits, calls }: Run,
  see: (call: CallIn<Run & RunState>, group: WaitGroup) => void,
): void {
  for (const group of waits) {
    for (const [from, to] of group.calls) {
      // ranges are untrusted: stop at the last call
      const last = Math.min(to, calls.length - 1)
      for (let index = from; index <= last; index++) see(calls[index] as CallIn<Run & RunState>, group)
    }
  }
}
