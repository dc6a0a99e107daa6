import type { CallTimes } from '../../../src/inspect/index.ts'
import { duration } from '../words.ts'

interface Props {
  readonly times: CallTimes
  readonly span: readonly [from: number, to: number]
  readonly what: keyof typeof words
}

const words = { here: 'this run', there: 'other run', recorded: 'recorded', simulated: 'simulated' } as const

/** One call in time: waiting, executing, held for order. */
export function TimeBar({ times, span: [from, to], what }: Props) {
  const { addedAt, startedAt, endedAt, yieldedAt, isSafe } = times
  const length = Math.max(to - from, 0.001)
  const part = (name: string, begin: number | undefined, end: number | undefined) => {
    if (begin === undefined || (end ?? to) <= begin) return null
    const style = { left: `${((begin - from) / length) * 100}%`, width: `${(((end ?? to) - begin) / length) * 100}%` }
    return <i class={name} style={style} />
  }
  const said = [
    `${words[what]}: arrives at ${duration(addedAt - from)}`,
    startedAt === undefined ? 'never starts' : `starts at ${duration(startedAt - from)}`,
    endedAt === undefined ? 'does not end' : `ends at ${duration(endedAt - from)}`,
    yieldedAt === undefined ? 'is not handed over' : `handed over at ${duration(yieldedAt - from)}`,
  ].join(', ')
  return (
    <span class={`time-bar ${what}`} role="img" aria-label={said} title={said}>
      {part('wait', addedAt, startedAt ?? endedAt)}
      {part(isSafe ? 'shared' : 'exclusive', startedAt, endedAt)}
      {endedAt !== undefined && yieldedAt !== undefined && part('late', endedAt, yieldedAt)}
    </span>
  )
}
