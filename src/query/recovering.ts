import { judgeReply } from '../journal/open-turn.ts'
import type { QueryLoop } from './query-loop.ts'

/** The log has an unfinished turn: decides whether its reply counts, then lets each of its calls continue. */
export function recover(loop: QueryLoop): void {
  const { log, attempt } = loop
  const turn = log?.turn
  if (log === undefined || turn === undefined) return
  const judgement = judgeReply(turn)
  if (judgement === 'discarded') {
    // a call that only reads has no record of its start, so one that was under way counts as not started
    const calls = [...turn.calls].map(([id, { completed, hasRun = false }]) => ({
      id,
      started: hasRun,
      completed: completed !== undefined,
    }))
    log.append({ t: 'attempt.discarded', reply: turn.reply, calls, reports: [] })
    loop.adoptBackground()
    return loop.tell({ type: 'turn.recovered', next: 'preparing' })
  }
  loop.adoptBackground()
  loop.isFresh = false
  if (judgement === 'committed') {
    attempt.restore(turn)
    const { isPaused, isPauseTurn } = attempt
    loop.transcript.reopen({ assistants: turn.blocks.map(({ message }) => message), isPaused, isPauseTurn })
    return loop.tell({ type: 'turn.recovered', next: 'deciding' })
  }
  loop.onExecutor?.(loop.executor)
  for (const report of turn.stopped?.reports ?? []) loop.emit(report)
  attempt.recover(turn, judgement === 'cutOff')
  loop.tell({ type: 'turn.recovered', next: 'draining' })
}
